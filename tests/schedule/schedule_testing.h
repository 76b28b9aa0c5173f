// A test of a schedule is a program, the steps, and the program after them.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "script_testing.h"
#include "tilewright/analysis/interpreter.h"
#include "tilewright/schedule/schedule.h"

namespace tilewright::schedule {

using script::dedent;
/// The module with the function or module that `text` defines.
IRModule module_of(std::string_view text);

using Steps = std::function<void(Schedule&)>;

/// Runs the steps on `before`, and checks that
/// - the result is `after` (unless empty), and differs from `before`;
/// - it computes the same numbers on random data;
/// - the trace, replayed directly and from its JSON, gives the same module.
void check_schedule(std::string_view before, const Steps& steps, std::string_view after = "");

/// Runs the steps and checks the whole text of the error, and that the schedule is as before the step that
/// failed.
void check_refused(std::string_view before, const Steps& steps, std::string_view expected);

/// True if two modules compute the same: every function is run by the interpreter on equal random arguments.
/// `options` are for `b`.
void expect_same_numbers(const IRModule& a, const IRModule& b, uint64_t seed = 0,
                         const analysis::InterpretOptions& options = {});

/// The script of a module, for messages.
std::string show(const IRModule& module);

}  // namespace tilewright::schedule
