// The program `tilewright` as a function.
#pragma once

namespace tilewright::cli {

/// Parses the command line, runs its command, prints what fails; the exit code: 0 done, 1 our mistake, 2 the
/// user's.
int run_program(int argc, char** argv);

}  // namespace tilewright::cli
