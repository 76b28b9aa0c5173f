// The program `tilewright` as a function.
#pragma once

namespace tilewright::cli {

/// Parses the command line, runs its command and prints errors.  Returns the exit code: 0 success, 1 our
/// error, 2 the user's error.
int run_program(int argc, char** argv);

}  // namespace tilewright::cli
