// The program `tilewright`: its command line and the form of its errors.  Exit codes: 0 success, 1 our error,
// 2 the user's error, 128 + signal when interrupted.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "tilewright/c_api.h"
#include "tilewright/cli/command.h"
#include "tilewright/cli/files.h"
#include "tilewright/cli/program.h"
#include "tilewright/cli/report.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::cli {
namespace {

constexpr int kInternal = 1, kUser = 2;

// All commands in the order of the help.
std::vector<const Command*> all_commands() {
  std::vector<const Command*> commands(k_commands, k_commands + k_commands_count);
  std::sort(commands.begin(), commands.end(), [](const Command* a, const Command* b) {
    return std::pair(a->place, std::string_view(a->name)) < std::pair(b->place, std::string_view(b->name));
  });
  return commands;
}

int fail(const Error& error) {
  print_aside(error.render() + "\n");
  return error.kind() == Error::Kind::kInternal ? kInternal : kUser;
}

// "The following argument was not expected: --x" -> "the following argument was not expected: --x"
std::string as_our_text(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void require_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command* command : all_commands()) {
    if (command->name == name) return;
    names.push_back(command->name);
  }
  throw UserError("there is no command \"{}\"", name).help("{}", nearest_names_text(name, names));
}

/// Parses the command line and runs the command, or prints help or version.
void run(int argc, char** argv) {
  CLI::App app("tilewright: compiles machine learning models and runs them");
  app.name("tilewright");
  app.set_version_flag("--version", fmt::format("tilewright {}", tilewright_version()));
  app.require_subcommand(1);
  app.footer("tilewright COMMAND --help describes a command and has examples.");
  std::vector<std::pair<CLI::App*, std::function<void()>>> commands;
  for (const Command* command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->doc);
    sub->footer(command->examples);
    commands.emplace_back(sub, command->add(*sub));
  }
  if (argc < 2) throw UserError("no command was given").help("see `tilewright --help`");
  if (argv[1][0] != '-') require_command(argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // also --version
    std::ostringstream text;
    app.exit(help, text, text);
    return print(text.str());
  } catch (const CLI::ParseError& error) {
    const bool has_command = argv[1][0] != '-';
    throw UserError("{}", as_our_text(error.what()))
        .help("see `tilewright {}--help`", has_command ? fmt::format("{} ", argv[1]) : "");
  }
  runtime::default_num_threads();  // reports a wrong TILEWRIGHT_NUM_THREADS at once
  for (const auto& [sub, run_command] : commands) {
    if (sub->parsed()) run_command();
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    handle_interrupts();
    run(argc, argv);
    return 0;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(UserError("out of memory"));
  } catch (const std::exception& error) {
    return fail(InternalError("{}", error.what()));
  }
}

}  // namespace tilewright::cli
