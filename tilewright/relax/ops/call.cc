// Calls of loop programs and of functions of the run-time registry.
#include "tilewright/relax/op_util.h"

namespace tilewright::relax {
namespace {

Type written_type(const Call& call) {
  if (call->type_args.empty())
    throw UserError(call, "{}: the type of the result is not given", name_of(call))
        .help("give it, e.g. out_sinfo=R.Tensor((4,), \"float32\")");
  return call->type_args.size() == 1 ? call->type_args[0] : Type(tuple_type(call->type_args));
}

void require_callee(const Call& call) {
  const Expr& callee = call->args[0];
  if (!is<GlobalVarNode>(callee) && !is<ExternFuncNode>(callee))
    fail(call, "the first argument must be a function of the module or the name of a registered one");
}

// call_tir(f, (x, y), out_ty): memory of the outputs is passed to f
Type infer_call_with_outputs(const Call& call) {
  require_callee(call);
  const Type inputs = type_of(call->args[1]);
  if (inputs && !is<TupleTypeNode>(inputs) && !is<ObjectTypeNode>(inputs))
    throw UserError(call->args[1], "{}: args is {}, expected a tuple", name_of(call), type_text(inputs))
        .help("write (x,) for one argument");
  const Type type = written_type(call);
  const auto* tuple = type.as<TupleTypeNode>();
  const std::vector<Type> outputs = tuple ? tuple->elements : std::vector<Type>{type};
  for (const Type& output : outputs) {
    if (!is<TensorTypeNode>(output)) fail(call, "an output is {}, expected a tensor", type_text(output));
  }
  return type;
}

// call_packed("f", x, y): f allocates its result
Type infer_call_packed(const Call& call) {
  require_callee(call);
  if (call->type_args.empty()) return object_type();
  return written_type(call);
}

constexpr FusePattern kOpaque = FusePattern::kOpaque;

constexpr OpInfo kOps[] = {
    op<infer_call_with_outputs, nullptr>("relax.call_tir", "func, args, tir_vars?",
                                         "A loop program of the module with memory for its outputs.",
                                         kOpaque),
    op<infer_call_with_outputs, nullptr>("relax.call_dps_packed", "func, args",
                                         "A registered function with memory for its outputs.", kOpaque),
    op<infer_call_packed, nullptr>("relax.call_packed", "func, *",
                                   "A registered function, which may have side effects.", kOpaque, false),
    op<infer_call_packed, nullptr>("relax.call_pure_packed", "func, *",
                                   "A registered function without side effects.", kOpaque),
};

}  // namespace

extern constinit const OpTable call_info = op_table(kOps);

}  // namespace tilewright::relax
