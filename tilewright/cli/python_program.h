// Commands whose work is Python's: the program becomes that Python (docs/decisions/0027).
#pragma once
#include <string>

namespace tilewright::cli {

/// A module of the Python package with a function main(options), which takes JSON and returns the exit code.
struct PythonProgram {
  const char* module;   // "tilewright.tune.command"
  const char* what;     // begins the error if there is no Python: "tuning"
  const char* package;  // what pip installs for it: "tilewright[tune]"
};

/// Becomes the Python program; does not return.  Raises UserError if there is no Python.
[[noreturn]] void become_python(const PythonProgram& program, const std::string& options);

}  // namespace tilewright::cli
