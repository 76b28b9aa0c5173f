#include "tilewright/relax/fold/evaluate.h"

#include <algorithm>

#include "tilewright/analysis/interpreter.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/fold/evaluate_rows.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::relax {
namespace {

constexpr int64_t kUnknown = INT64_MAX;

// The number of iterations of all loops of `root` together; kUnknown if an extent is not constant.
int64_t num_steps(const Object* root) {
  int64_t total = 1;
  walk(
      root,
      [&](const tir::ForNode* loop) {
        int64_t extent, inside = num_steps(loop->body.get());
        if (!tir::as_const_int(loop->extent, &extent) || inside == kUnknown ||
            __builtin_mul_overflow(extent, inside, &inside) || __builtin_add_overflow(total, inside, &total))
          total = kUnknown;
        return false;
      },
      [&](const tir::StmtNode* stmt) {
        if (tir::runs_inner(stmt) == tir::Runs::kOpen) total = kUnknown;
      });
  return total;
}

}  // namespace

std::optional<std::vector<runtime::Tensor>> evaluate(const tir::PrimFunc& func,
                                                     const std::vector<runtime::Tensor>& inputs,
                                                     const std::vector<TensorType>& outputs,
                                                     int64_t* steps_left) {
  std::vector<runtime::Tensor> args, results;
  for (const runtime::Tensor& input : inputs) args.push_back(input.compact());
  for (const TensorType& type : outputs) {
    const Shape* shape = known_shape(type.get());
    const auto extents = shape ? constant_extents(*shape) : std::nullopt;
    if (!extents || type->dtype.is_void()) return std::nullopt;
    results.push_back(runtime::Tensor::empty(*extents, type->dtype));
    args.push_back(results.back());
  }
  if (args.size() != func->params.size()) return std::nullopt;
  if (results.size() == 1 && evaluate_rows(func, args)) return results;
  const int64_t steps = num_steps(func->body.get());
  if (steps > *steps_left) return std::nullopt;
  *steps_left -= steps;
  analysis::InterpretOptions options;
  options.max_steps = steps;
  for (size_t n = inputs.size(); n < args.size(); ++n) options.outputs.push_back(n);
  const std::vector<runtime::Value> values(args.begin(), args.end());
  try {
    analysis::interpret(func, values, options);
  } catch (const Error&) {
    return std::nullopt;  // the program then fails at run time as well, where the error belongs
  }
  return results;
}

}  // namespace tilewright::relax
