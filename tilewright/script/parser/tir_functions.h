// The functions of T by topic; tir_functions.cc has the table of their names.
#pragma once
#include "tilewright/script/parser/tir_state.h"

namespace tilewright::script {

// tir_buffers.cc
/// The variable of the dimension called `name` in this function.
tir::Var dimension_var(Parser& parser, std::string_view name, DataType dtype, Place place);
Value match_buffer(Parser& parser, Args& args);
Value alloc_buffer(Parser& parser, Args& args);
Value sblock_alloc_buffer(Parser& parser, Args& args);
Value allocate(Parser& parser, Args& args);
Value decl_buffer(Parser& parser, Args& args);
Value buffer_type(Parser& parser, Args& args);

// tir_scalars.cc
/// T.float32(...), T.int64(), T.handle(...): a literal, a conversion or a new variable
Value scalar_of_dtype(Parser& parser, DataType dtype, Args& args);
Value new_var(Parser& parser, Args& args);
Value cast_exact(Parser& parser, Args& args);
Value cast_value(Parser& parser, Args& args);
Value int_imm(Parser& parser, Args& args);
Value float_imm_value(Parser& parser, Args& args);
Value string_imm_value(Parser& parser, Args& args);
Value ceil_divide(Parser& parser, Args& args);
Value select_value(Parser& parser, Args& args);
Value let_value(Parser& parser, Args& args);
/// The node of `kind` on two arguments.
Value two_operands(Parser& parser, ir::Kind kind, Args& args);

// tir_nodes.cc
Value ramp(Parser& parser, Args& args);
Value broadcast(Parser& parser, Args& args);
Value shuffle(Parser& parser, Args& args);
Value buffer_load(Parser& parser, Args& args);
Value comm_reducer(Parser& parser, Args& args);
Value index_map(Parser& parser, Args& args);
Value range_value(Parser& parser, Args& args);
Value target_value(Parser& parser, Args& args);
Value meta_var(Parser& parser, Args& args);
/// The parameters of a lambda as new variables of `dtype`, and its results.
std::pair<std::vector<tir::Var>, std::vector<PrimExpr>> apply_lambda(Parser& parser, const Arg& arg,
                                                                     const std::vector<DataType>& dtypes,
                                                                     std::string_view what);

// tir_calls.cc
Value call_builtin(Parser& parser, const BuiltinOp& op, Args& args);

// tir_block.cc
Value func_attr(Parser& parser, Args& args);
Value reads(Parser& parser, Args& args);
Value writes(Parser& parser, Args& args);
Value where(Parser& parser, Args& args);
Value block_attr(Parser& parser, Args& args);
Value axis_spatial(Parser& parser, Args& args);
Value axis_reduce(Parser& parser, Args& args);
Value axis_scan(Parser& parser, Args& args);
Value axis_opaque(Parser& parser, Args& args);
Value axis_remap(Parser& parser, Args& args);

// tir_statements.cc
std::string assert_message(Parser& parser, const Value& value, Place place);
Value attr(Parser& parser, Args& args);
Value launch_thread(Parser& parser, Args& args);
Value env_thread(Parser& parser, Args& args);
Value iter_var(Parser& parser, Args& args);
Value assert_stmt(Parser& parser, Args& args);
Value evaluate(Parser& parser, Args& args);
Value buffer_store(Parser& parser, Args& args);
Value let_stmt(Parser& parser, Args& args);

}  // namespace tilewright::script
