// The table of T.name.  A name that is not in it is a dtype (T.float32) or an operator of tir/op.h (T.exp).
#include "tilewright/script/parser/tir_functions.h"

#include "tilewright/support/near.h"
#include "tilewright/tir/limits.h"
#include "tilewright/tir/registered_op.h"

namespace tilewright::script {
namespace {

template <ir::Kind kKind>
Value node_of(Parser& parser, Args& args) {
  return two_operands(parser, kKind, args);
}

Value negate(Parser& parser, Args& args) {
  const Arg& a = args.need(0, "a");
  args.done();
  return NotNode::make(parser.to_bool(a.value, a.place), args.span);
}

// T.all(a, b, c): a and b and c
template <ir::Kind kKind>
Value joined(Parser& parser, Args& args) {
  PrimExpr result;
  for (const Arg* arg : args.rest(0)) {
    PrimExpr condition = parser.to_bool(arg->value, arg->place);
    result = result ? make_binary(kKind, result, condition, args.span) : condition;
  }
  args.done();
  if (!result) throw UserError(args.span, "{} of nothing", args.function);
  return result;
}

// T.max_value("float32")
template <PrimExpr (*kLimit)(DataType)>
Value limit_of(Parser& parser, Args& args) {
  const Arg& dtype = args.need(0, "dtype");
  args.keyword("span");
  args.done();
  return kLimit(parser.to_data_type(dtype.value, dtype.place));
}

// Other names of operators, with the same arguments.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"power", "pow"},
    {"tvm_call_packed", "call_packed"},
    {"tvm_call_cpacked", "call_cpacked"},
    {"call_pure_llvm_intrin", "call_llvm_pure_intrin"}};

struct TirFunction {
  std::string_view name;
  Handler handler;
  bool in_body = false;  // acts on the function being parsed
};
constexpr TirFunction kFunctions[] = {
    {"Buffer", buffer_type},
    {"match_buffer", match_buffer, true},
    {"alloc_buffer", alloc_buffer, true},
    {"sblock_alloc_buffer", sblock_alloc_buffer, true},
    {"allocate", allocate, true},
    {"decl_buffer", decl_buffer, true},
    {"buffer_decl", decl_buffer, true},
    {"func_attr", func_attr, true},
    {"reads", reads, true},
    {"writes", writes, true},
    {"where", where, true},
    {"block_attr", block_attr, true},
    {"sblock_attr", block_attr, true},
    {"axis.spatial", axis_spatial, true},
    {"axis.S", axis_spatial, true},
    {"axis.reduce", axis_reduce, true},
    {"axis.R", axis_reduce, true},
    {"axis.scan", axis_scan, true},
    {"axis.opaque", axis_opaque, true},
    {"axis.remap", axis_remap, true},
    {"attr", attr, true},
    {"launch_thread", launch_thread, true},
    {"env_thread", env_thread},
    {"iter_var", iter_var},
    {"Assert", assert_stmt, true},
    {"evaluate", evaluate, true},
    {"buffer_store", buffer_store, true},
    {"BufferStore", buffer_store, true},
    {"LetStmt", let_stmt, true},
    {"bind", let_stmt, true},
    {"Bind", let_stmt, true},
    {"let", let_stmt, true},
    {"Var", new_var},
    {"var", new_var},
    {"SizeVar", new_var},
    {"Cast", cast_exact},
    {"cast", cast_value},
    {"IntImm", int_imm},
    {"FloatImm", float_imm_value},
    {"StringImm", string_imm_value},
    {"Select", select_value},
    {"Let", let_value},
    {"Ramp", ramp},
    {"ramp", ramp},
    {"Broadcast", broadcast},
    {"broadcast", broadcast},
    {"Shuffle", shuffle},
    {"BufferLoad", buffer_load},
    {"comm_reducer", comm_reducer},
    {"CommReducer", comm_reducer},
    {"index_map", index_map},
    {"Range", range_value},
    {"target", target_value},
    {"meta_var", meta_var},
    {"ceildiv", ceil_divide},
    {"Not", negate},
    {"Add", node_of<ir::Kind::kAdd>},
    {"Sub", node_of<ir::Kind::kSub>},
    {"Mul", node_of<ir::Kind::kMul>},
    {"Div", node_of<ir::Kind::kDiv>},
    {"Mod", node_of<ir::Kind::kMod>},
    {"FloorDiv", node_of<ir::Kind::kFloorDiv>},
    {"FloorMod", node_of<ir::Kind::kFloorMod>},
    {"Min", node_of<ir::Kind::kMin>},
    {"Max", node_of<ir::Kind::kMax>},
    {"EQ", node_of<ir::Kind::kEQ>},
    {"NE", node_of<ir::Kind::kNE>},
    {"LT", node_of<ir::Kind::kLT>},
    {"LE", node_of<ir::Kind::kLE>},
    {"GT", node_of<ir::Kind::kGT>},
    {"GE", node_of<ir::Kind::kGE>},
    {"And", node_of<ir::Kind::kAnd>},
    {"Or", node_of<ir::Kind::kOr>},
    {"min_value", limit_of<tir::lowest_finite>},
    {"max_value", limit_of<tir::largest_finite>},
    {"infinity", limit_of<tir::infinity>},
    {"min", node_of<ir::Kind::kMin>},
    {"max", node_of<ir::Kind::kMax>},
    {"floordiv", node_of<ir::Kind::kFloorDiv>},
    {"floormod", node_of<ir::Kind::kFloorMod>},
    {"truncdiv", node_of<ir::Kind::kDiv>},
    {"truncmod", node_of<ir::Kind::kMod>},
    {"div", node_of<ir::Kind::kDiv>},
    {"indexdiv", node_of<ir::Kind::kFloorDiv>},
    {"indexmod", node_of<ir::Kind::kFloorMod>},
    {"logical_and", node_of<ir::Kind::kAnd>},
    {"logical_or", node_of<ir::Kind::kOr>},
    {"logical_not", negate},
    {"all", joined<ir::Kind::kAnd>},
    {"any", joined<ir::Kind::kOr>},
};

// Names that are allowed only in `with`, in `for` or as a decorator, and how to write them.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"block", "with T.block(...):"},
    {"sblock", "with T.sblock(...):"},
    {"init", "with T.init():"},
    {"grid", "for i, j in T.grid(...):"},
    {"serial", "for i in T.serial(...):"},
    {"parallel", "for i in T.parallel(...):"},
    {"vectorized", "for i in T.vectorized(...):"},
    {"unroll", "for i in T.unroll(...):"},
    {"unrolled", "for i in T.unrolled(...):"},
    {"thread_binding", "for i in T.thread_binding(...):"},
    {"prim_func", "@T.prim_func"}};

}  // namespace

Value call_tir_function(Parser& parser, std::string_view name, Args& args) {
  for (const TirFunction& entry : kFunctions) {
    if (entry.name == name) {
      const bool is_in_body = parser.tir && parser.tir->out;
      if (entry.in_body && !is_in_body)
        throw UserError(args.span, "{} is allowed only inside the body of a T.prim_func", args.function);
      return entry.handler(parser, args);
    }
  }
  DataType dtype;
  if (DataType::try_parse(name, &dtype)) return scalar_of_dtype(parser, dtype, args);
  for (const auto& [other, op_name] : kOtherNames) {
    if (other == name) return call_builtin(parser, *find_builtin(op_name), args);
  }
  if (const BuiltinOp* op = find_builtin(name)) return call_builtin(parser, *op, args);
  if (const BuiltinOp* op = tir::find_registered_op(name)) return call_builtin(parser, *op, args);
  for (const auto& [other, form] : kElsewhere) {
    if (other == name) throw UserError(args.span, "{} is written as `{}`", args.function, form);
  }
  std::vector<std::string_view> known;
  for (const TirFunction& entry : kFunctions) known.push_back(entry.name);
  for (size_t n = 0; n < kNumBuiltinOps; ++n) known.push_back(kBuiltinOps[n].name);
  for (const auto& [other, form] : kElsewhere) known.push_back(other);
  for (const auto& [other, op_name] : kOtherNames) known.push_back(other);
  for (std::string_view type :
       {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "handle"})
    known.push_back(type);
  UserError error(args.span, "TIR has no function {}", name);
  if (!nearest_names(name, known).empty()) error.help("{}", nearest_names_text(name, known));
  throw error;
}

}  // namespace tilewright::script
