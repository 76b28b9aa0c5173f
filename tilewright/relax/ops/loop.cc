// Loops: a function of the module that is called again and again.
#include "tilewright/relax/infer/loop_types.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

// loop(body, most, condition, carried, captured) -> (carried..., collected...)
Type infer_loop(const Call& call) {
  const Type type = type_of(call->args[0]);
  if (!type || is<ObjectTypeNode>(type)) return object_type();
  const auto* body = type.as<CallableTypeNode>();
  if (!body) fail(call, "body is {}, expected a function", type_text(type));
  if (body->is_opaque) return object_type();
  if (!body->is_pure)
    throw UserError(call, "{}: the body has side effects", name_of(call))
        .help("declare it pure: @R.function(pure=True), if it has none");
  LoopTypes types = loop_types(call, body);
  std::vector<Type> results = std::move(types.carried);
  for (const Type& element : types.elements) results.push_back(types.collected(element));
  return tuple_type(std::move(results));
}

constexpr OpInfo kOps[] = {
    op<infer_loop, nullptr>(
        "relax.loop", "body, most, condition, carried, captured",
        "Calls a function with the number of the iteration, the condition, the carried values and the "
        "captured "
        "ones, at most `most` times and while the condition holds; R.tuple() for no limit or no condition.  "
        "It "
        "returns the next condition, the next carried values and tensors, which are stacked.",
        FusePattern::kOpaque),
};

}  // namespace

extern constinit const OpTable loop_info =
    op_table(kOps,
             "onnx.ai/onnx/operators/onnx__Loop.html; Yu et al., Dynamic Control Flow in Large-Scale Machine "
             "Learning, EuroSys 2018");

}  // namespace tilewright::relax
