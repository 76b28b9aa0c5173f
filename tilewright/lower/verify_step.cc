#include "tilewright/lower/verify_step.h"

#include "tilewright/analysis/verify.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

// Loops were split on purpose, T.reads and T.writes are not updated, and flat views of parameters are not
// declared. Values are checked by the program's own check and by random schedules
// (tests/lower/steps_test.cc).
constexpr analysis::VerifyOptions kVerifyOptions{.axes_match_loops = false,
                                                 .regions_cover_accesses = false,
                                                 .values_fit = false,
                                                 .views_are_declared = false};

// The function with a parameter for the pointer that lower_returns stores to, which is free until functions
// are split.
tir::PrimFunc with_result(const tir::PrimFunc& func) {
  std::vector<Var> results;
  for (const Var& var : free_vars(func->body)) {
    if (var->dtype.is_handle() && var->name_hint == "result") results.push_back(var);
  }
  for (const Buffer& buffer : func->buffers) {
    if (buffer) std::erase(results, buffer->data);
  }
  for (const Var& param : func->params) std::erase(results, param);
  if (results.empty()) return func;
  return with(func, [&](PrimFuncNode& changed) {
    changed.params.insert(changed.params.end(), results.begin(), results.end());
    changed.buffers.resize(changed.params.size());
  });
}

}  // namespace

void verify_step(const Step& step, const tir::PrimFunc& func, Constructs allowed) {
  try {
    analysis::verify(with_result(func), kVerifyOptions);
  } catch (const Error& error) {
    throw InternalError("lowering step {} made a malformed program: {}", step.name(), error.text());
  }
  if (const Constructs left = constructs_of(func) & ~allowed)
    throw InternalError("lowering step {} left {}", step.name(), constructs_text(left));
}

void verify_lowered(const std::string& name, const ir::IRModule& lowered) {
  try {
    analysis::verify(lowered, kVerifyOptions);
  } catch (const Error& error) {
    throw InternalError("the functions that {} was cut into are malformed: {}", name, error.text());
  }
}

}  // namespace tilewright::lower
