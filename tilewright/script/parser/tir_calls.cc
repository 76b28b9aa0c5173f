// Calls of the operators of tir/op.h: converts arguments to expressions and determines the result's dtype.
#include "tilewright/script/parser/tir_functions.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/tensor_argument.h"

namespace tilewright::script {
namespace {

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (std::string_view other : names) {
    if (name == other) return true;
  }
  return false;
}

// True for operators whose operands may differ in dtype.
bool has_mixed_operands(std::string_view name) {
  return is_any_of(
      name, {"ldexp", "q_multiply_shift", "q_multiply_shift_per_axis", "likely", "tvm_thread_invariant"});
}
// True for operators on integers; others convert an integer literal to float32.
bool takes_integers(std::string_view name) {
  return is_any_of(name, {"abs", "popcount", "clz", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
                          "shift_left", "shift_right", "q_multiply_shift", "q_multiply_shift_per_axis",
                          "likely", "tvm_thread_invariant", "pow", "fmod"});
}

// The result's dtype if the user wrote it: as dtype=..., or before the other arguments.
std::optional<DataType> written_dtype(Parser& parser, const BuiltinOp& op, Args& args, size_t* first) {
  if (const Arg* arg = args.keyword("dtype")) return parser.to_data_type(arg->value, arg->place);
  if (!has_leading_dtype(op.name) || args.size() == 0) return std::nullopt;
  DataType dtype;
  const Arg& arg = args.need(0, "dtype");
  if (!parser.as_data_type(arg.value, &dtype)) return std::nullopt;
  *first = 1;
  return dtype;
}

std::vector<PrimExpr> operands_of(Parser& parser, const BuiltinOp& op, const std::vector<const Arg*>& given) {
  std::vector<PrimExpr> operands;
  const bool is_packed = op.name == "call_packed" || op.name == "call_cpacked";
  for (const Arg* arg : given) {
    if (const Buffer buffer = is_packed ? arg->value.ref<BufferNode>() : Buffer()) {
      operands.push_back(tir::tensor_argument(buffer));
      continue;
    }
    const bool is_exponent = op.name == "ldexp" && operands.size() == 1;
    const bool as_float =
        op.elementwise && arg->value.get<Value::PyInt>() && !takes_integers(op.name) && !is_exponent;
    operands.push_back(
        parser.to_prim(arg->value, arg->place, as_float ? std::optional(kFloat32) : std::nullopt));
  }
  const bool matched = (op.elementwise && !has_mixed_operands(op.name)) || op.name == "if_then_else";
  const size_t begin = op.name == "if_then_else" ? 1 : 0;
  if (!matched || operands.size() < begin + 2) return operands;
  // a literal takes the dtype of any typed operand, then all are converted to one dtype
  size_t typed = begin;
  while (typed < given.size() && given[typed]->value.is_number()) ++typed;
  Value common = typed < given.size() ? given[typed]->value : given[begin]->value;
  for (int round = 0; round < 2; ++round) {
    for (size_t n = begin; n < given.size(); ++n) {
      auto [x, y] = parser.unify(given[n]->value, common, given[n]->place);
      operands[n] = x;
      common = y;
    }
  }
  return operands;
}

Value type_annotation(Parser& parser, Args& args) {
  const Arg& dtype = args.need(0, "dtype");
  args.done();
  return tir::CallNode::make(parser.to_data_type(dtype.value, dtype.place),
                             ir::Expr(find_op("type_annotation")), std::vector<PrimExpr>{}, AttrMap(),
                             args.span);
}

}  // namespace

Value call_builtin(Parser& parser, const BuiltinOp& op, Args& args) {
  if (op.name == "type_annotation") return type_annotation(parser, args);
  size_t first = 0;
  std::optional<DataType> dtype = written_dtype(parser, op, args, &first);
  AttrMap annotations;
  if (const Arg* arg = args.keyword("annotations")) annotations = parser.to_attrs(arg->value, arg->place);
  std::vector<const Arg*> given = args.rest(first);
  args.done();
  if (op.num_args >= 0 && given.size() != static_cast<size_t>(op.num_args))
    throw UserError(args.span, "{} takes {}, found {}", args.function, count_text(op.num_args, "argument"),
                    given.size());
  std::vector<PrimExpr> operands = operands_of(parser, op, given);
  if (op.name == "if_then_else") operands[0] = parser.to_bool(given[0]->value, given[0]->place);
  if (op.name == "address_of" && !is<BufferLoadNode>(operands[0]))
    throw UserError(parser.span(given[0]->place), "T.address_of takes a buffer element, as in A[i], found {}",
                    describe(given[0]->value));
  if (!dtype) dtype = result_dtype(op, operands);
  if (!dtype)
    throw UserError(args.span, "{}: the dtype of the result is missing", args.function)
        .help("write it first or as dtype=\"...\"");
  return tir::CallNode::make(*dtype, ir::Expr(find_op(op.name)), std::move(operands), std::move(annotations),
                             args.span);
}

}  // namespace tilewright::script
