#include "tilewright/cli/python_program.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tilewright/driver/process.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {

constexpr const char* kProgram = R"(
import sys
try:
    from {0} import main
except ImportError as error:
    sys.exit(f"error: {1} needs the Python package: {{error}}\nhelp: pip install {2}, or name its Python by TILEWRIGHT_PYTHON")
except KeyboardInterrupt:
    sys.exit(130)
sys.exit(main(sys.argv[1]))
)";

}  // namespace

void become_python(const PythonProgram& program, const std::string& options) {
  const char* named = std::getenv("TILEWRIGHT_PYTHON");
  const std::string python = named ? named : driver::find_program({"python3", "python"});
  if (python.empty())
    throw UserError("{} needs Python, and there is no python3 in PATH", program.what)
        .help("pip install {}, or name its Python by TILEWRIGHT_PYTHON", program.package);
  const std::string text = fmt::format(fmt::runtime(kProgram), program.module, program.what, program.package);
  std::vector<std::string> command = {python, "-c", text, options};
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  // this program may have blocked signals; Ctrl-C must reach Python nevertheless
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  execv(python.c_str(), argv.data());
  throw UserError("{} cannot be started: {}", python, std::strerror(errno));
}

}  // namespace tilewright::cli
