// A test of a lowering step is a program, and the program after the step.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "tilewright/lower/annotations.h"
#include "tilewright/lower/step.h"

namespace tilewright::lower {

/// A step by its name, with its default options, or several as one function.
struct Pass {
  Pass(const char* name);
  Pass(PrimFunc (*function)(const PrimFunc&)) : run(function) {}
  std::function<PrimFunc(const PrimFunc&)> run;
};

/// `func` after the step called `name`.
PrimFunc run_step(std::string_view name, const PrimFunc& func, const ir::AttrMap& options = {});

/// The function that `text` defines.
PrimFunc func_of(std::string_view text);

/// Runs `pass` on `before`, and checks that the result is `after`, that it is well formed and that it
/// computes the same numbers as before.
void check_pass(const Pass& pass, std::string_view before, std::string_view after);
/// The same where only the numbers matter.
void check_numbers(const Pass& pass, std::string_view before);
/// Checks that `pass` gives the very same object.
void check_unchanged(const Pass& pass, std::string_view program);

/// The function with the flat views of its parameters declared, which flatten_buffers and pack_elements write
/// without.
PrimFunc with_views_declared(const PrimFunc& func);

/// True if the interpreter computes the same with both on equal random arguments; scalars are 3, 4, ...
void expect_same_numbers(const PrimFunc& before, const PrimFunc& after);

}  // namespace tilewright::lower
