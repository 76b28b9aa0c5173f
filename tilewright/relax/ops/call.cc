// Calls of loop programs and of functions of the run-time registry.
#include <algorithm>

#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

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

std::vector<Type> output_list(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple ? tuple->elements : std::vector<Type>{type};
}

// call_tir(f, (x, y), out_ty): f gets memory for the outputs
Type infer_call_with_outputs(const Call& call) {
  require_callee(call);
  const Type inputs = type_of(call->args[1]);
  if (inputs && !is<TupleTypeNode>(inputs) && !is<ObjectTypeNode>(inputs))
    throw UserError(call->args[1], "{}: args is {}, expected a tuple", name_of(call), type_text(inputs))
        .help("write (x,) for one argument");
  const Type type = written_type(call);
  for (const Type& output : output_list(type)) {
    if (!is<TensorTypeNode>(output)) fail(call, "an output is {}, expected a tensor", type_text(output));
  }
  return type;
}

struct InplaceAttrs {
  std::vector<int64_t> inplace_indices;
  static constexpr auto fields() {
    return std::tuple{field<&InplaceAttrs::inplace_indices>(
        "inplace_indices", "per output the argument that it overwrites, or -1 for new memory")};
  }
};

// Output n overwrites argument inplace_indices[n] of `args`, or has its own memory.
void check_inplace(const Call& call, const InplaceAttrs& attrs, const std::vector<Type>& outputs,
                   const std::vector<Expr>& args) {
  if (attrs.inplace_indices.size() != outputs.size())
    fail(call, "inplace_indices has {} numbers for {}", attrs.inplace_indices.size(),
         count_text(outputs.size(), "output"));
  const size_t count = args.size();
  std::vector<bool> is_taken(count);
  for (size_t n = 0; n < outputs.size(); ++n) {
    const int64_t index = attrs.inplace_indices[n];
    if (index == -1) continue;
    if (index < 0 || index >= static_cast<int64_t>(count))
      fail(call, "inplace_indices[{}] is {}, expected -1 or an argument, 0 to {}", n, index,
           static_cast<int64_t>(count) - 1);
    const auto at = static_cast<size_t>(index);
    if (is_taken[at]) fail(call, "argument {} becomes two outputs", index);
    is_taken[at] = true;
    const Type given = type_of(args[at]);
    if (is_subtype(given, outputs[n]) == Answer::kNo)
      fail(call, "argument {} is {}, but output {}, which it becomes, is {}", index, type_text(given), n,
           type_text(outputs[n]));
  }
}

// call_tir_inplace(f, (x, y), inplace_indices=[0], out_ty): f writes the output into x
Type infer_inplace(const Call& call, const InplaceAttrs& attrs) {
  const Type type = infer_call_with_outputs(call);
  const auto* args = call->args[1].as<TupleNode>();
  check_inplace(call, attrs, output_list(type), args ? args->elements : std::vector<Expr>{});
  return type;
}

// call_inplace_packed("f", x, y, inplace_indices=[0]): f changes x and returns it
Type infer_inplace_packed(const Call& call, const InplaceAttrs& attrs) {
  require_callee(call);
  const Type type = written_type(call);
  const bool has_inplace = std::any_of(attrs.inplace_indices.begin(), attrs.inplace_indices.end(),
                                       [](int64_t index) { return index >= 0; });
  if (!has_inplace)
    throw UserError(call, "{}: inplace_indices names no argument", name_of(call))
        .help("a function that changes none is called by R.call_pure_packed");
  check_inplace(call, attrs, output_list(type), {call->args.begin() + 1, call->args.end()});
  return type;
}

// call_tir_with_grad(f, (x, y), out_ty, te_grad_name="...", te_grad_kwargs={...}): call_tir with a gradient
struct TeGradAttrs {
  std::string te_grad_name;
  Dict te_grad_kwargs;
  static constexpr auto fields() {
    return std::tuple{
        field<&TeGradAttrs::te_grad_name>("te_grad_name", "name given to register_te_gradient"),
        field<&TeGradAttrs::te_grad_kwargs>("te_grad_kwargs", "keyword arguments of the gradient function")};
  }
};
Type infer_with_grad(const Call& call, const TeGradAttrs& attrs) {
  if (attrs.te_grad_name.empty()) fail(call, "te_grad_name is not given");
  return infer_call_with_outputs(call);
}

// make_closure(f, (y,)): f with its last parameters bound
Type infer_closure(const Call& call) {
  require_callee(call);
  const auto* callee = type_of(call->args[0]).as<CallableTypeNode>();
  const auto* bound = type_of(call->args[1]).as<TupleTypeNode>();
  if (!bound) fail(call, "args is {}, expected a tuple", type_text(type_of(call->args[1])));
  if (!callee || callee->is_opaque) return object_type();
  if (bound->elements.size() > callee->params.size())
    fail(call, "{} arguments are bound, but the function has {}", bound->elements.size(),
         count_text(callee->params.size(), "parameter"));
  return type_with_bound(callee, bound->elements);
}

Type infer_null(const Call&) { return object_type(); }
Type infer_nothing(const Call&) { return tuple_type({}); }

// call_packed("f", x, y): f allocates its result
Type infer_call_packed(const Call& call) {
  require_callee(call);
  if (call->type_args.empty()) return object_type();
  return written_type(call);
}

constexpr FusePattern kOpaque = FusePattern::kOpaque;

constexpr OpInfo kOps[] = {
    op<infer_call_with_outputs, nullptr>("relax.call_tir", "func, args, tir_vars?",
                                         "Calls a loop program of the module with memory for its outputs.",
                                         kOpaque),
    op<infer_call_with_outputs, nullptr>("relax.call_dps_packed", "func, args",
                                         "Calls a registered function with memory for its outputs.", kOpaque),
    op<infer_inplace, nullptr, InplaceAttrs>(
        "relax.call_tir_inplace", "func, args, tir_vars?",
        "Calls a loop program that writes outputs into its arguments, which are not used afterwards.",
        kOpaque),
    op<infer_with_grad, nullptr, TeGradAttrs>("relax.call_tir_with_grad", "func, args, tir_vars?",
                                              "call_tir of a loop program with a registered gradient.",
                                              kOpaque),
    op<infer_closure, nullptr>("relax.make_closure", "func, args",
                               "Binds the last parameters of a function of the module.", kOpaque),
    op<infer_nothing, nullptr>("relax.print", "format, *",
                               "Prints the format, a string with {} for each value, to standard output.",
                               kOpaque, false),
    op<infer_nothing, nullptr>(
        "relax.assert_op", "condition, format, *",
        "Raises an error with the format, a string with {} for each value, if the condition is false.",
        kOpaque, false),
    op<infer_nothing, nullptr>(
        "relax.require", "condition, format, *",
        "Raises UserError with the format, a string with {} for each value, if the condition on extents is "
        "false: a requirement of an operator that is open until the graph runs.  Passes do not drop "
        "it.",
        kOpaque),
    op<infer_call_packed, nullptr>("relax.call_packed", "func, *",
                                   "Calls a registered function, which may have side effects.", kOpaque,
                                   false),
    op<infer_call_packed, nullptr>("relax.call_pure_packed", "func, *",
                                   "Calls a registered function without side effects.", kOpaque),
    op<infer_inplace_packed, nullptr, InplaceAttrs>(
        "relax.call_inplace_packed", "func, *",
        "Calls a registered function that changes arguments, not used afterwards, and returns them.",
        kOpaque),
    op<infer_null, nullptr>("relax.null_value", "", "None, for functions that take it.", kOpaque),
};

}  // namespace

extern constinit const OpTable call_info = op_table(
    kOps,
    "Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine Learning, arXiv 2311.02117");

}  // namespace tilewright::relax
