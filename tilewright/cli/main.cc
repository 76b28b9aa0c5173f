#include "tilewright/cli/program.h"

int main(int argc, char** argv) { return tilewright::cli::run_program(argc, argv); }
