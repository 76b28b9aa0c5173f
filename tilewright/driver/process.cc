#include "tilewright/driver/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

extern char** environ;

namespace tilewright::driver {

std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  std::vector<std::string> all;
  for (std::string folder; std::getline(folders, folder, ':');) all.push_back(folder);
  for (const std::string& name : names) {
    for (const std::string& folder : all) {
      const std::string candidate = folder + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return "";
}

std::string run_program(const std::string& what, const std::vector<std::string>& command,
                        const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string messages = output + ".log";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // the caller may have blocked signals; Ctrl-C must end the program nevertheless
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error == 0) waitpid(child, &status, 0);
  const std::string text = read_bytes(messages).value_or("");
  std::error_code ignored;
  std::filesystem::remove(messages, ignored);
  if (error != 0)
    throw UserError("{} {} could not be started: {}", what, command[0],
                    std::generic_category().message(error));
  if (status != 0) throw UserError("{} {} failed: {}", what, command[0], text);
  return text;
}

}  // namespace tilewright::driver
