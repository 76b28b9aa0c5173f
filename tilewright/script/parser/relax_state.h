// The state while the body of a graph function is parsed.
#pragma once
#include <map>
#include <unordered_set>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/script/parser/macros.h"
#include "tilewright/script/parser/parser.h"

namespace tilewright::script {

/// The bindings of one body, in plain and dataflow blocks, in order.
struct BindingList {
  std::vector<relax::BindingBlock> blocks;
  std::vector<relax::Binding> bindings;  // of the open block
  bool in_dataflow = false;
  /// Outputs of the open dataflow block, and how many assignments of each are left:
  /// the last one is the output.
  std::map<std::string, int, std::less<>> outputs;
  void close_block();
};

struct RelaxState {
  std::string name;
  BindingList* out = nullptr;
  AttrMap attrs;
  bool is_pure = true;
  bool check_well_formed = true;  // from the decorator: refuse side effects in pure functions
  std::map<std::string, tir::Var, std::less<>> dims;
  std::vector<std::pair<tir::Var, Place>> used_dims;   // first uses, for messages
  std::unordered_set<const tir::VarNode*> known_dims;  // defined by parameters and match_cast
  ir::Expr result;                                     // from the return statement
  const ir::Object* fresh = nullptr;                   // a variable that R.match_cast has just bound
  bool in_branch = false;
  bool in_macro = false;  // a return gives the value of a macro, not of the function
  MacroCalls macros;
  RelaxState* outer = nullptr;  // the enclosing function
  relax::Var self;              // the name of a nested function in its own body
};

// relax_types.cc
/// R.Tensor(...) and the other types; nullopt if `name` is no type.
std::optional<Value> call_graph_type(Parser& parser, std::string_view name, Args& args);
ir::Type to_type(Parser& parser, const Value& value, Place place);
/// An extent, given as a number, an expression or a string.
PrimExpr to_extent(Parser& parser, const Value& value, Place place);
relax::Shape to_shape(Parser& parser, const Value& value, Place place);
/// The integers of R.shape or of an argument, which may be negative: R.reshape(x, (-1, 4)).
relax::Shape to_shape_values(Parser& parser, const Sequence& list, Place place);
/// The name of a device, "llvm:0", given as a string or by I.vdevice("llvm", 0).
std::string device_name(Parser& parser, const Value& value, Place place);

// relax_values.cc
/// `value` as a graph value: a list becomes a tuple, a scalar R.prim_value, a string R.str.
ir::Expr to_graph(Parser& parser, const Value& value, Place place);
/// `value` as an argument: a value that is no leaf is bound to a variable first.
ir::Expr to_leaf(Parser& parser, const ir::Expr& value, Place place);
relax::Constant constant_of(Parser& parser, const Value& value, std::optional<DataType> dtype, Place place);

// relax_calls.cc
std::optional<Value> call_graph_special(Parser& parser, std::string_view name, Args& args);
Value call_operator(Parser& parser, std::string_view name, Args& args);
relax::Call make_call(Parser& parser, std::string_view op, std::vector<ir::Expr> args, AttrMap attrs,
                      std::vector<ir::Type> type_args, const Span& span);
/// The inferred type of `expr`.
ir::Type infer(Parser& parser, const ir::Expr& expr, const Span& span);

// relax_func.cc
/// Binds var = value in the open block.
relax::AnyVar emit(Parser& parser, std::string_view name, const ir::Expr& value, const ir::Type& annotation,
                   Place place);
relax::AnyVar emit_match_cast(Parser& parser, std::string_view name, const ir::Expr& value,
                              const ir::Type& pattern, Place place);

// relax_stmt.cc
std::optional<Value> call_graph_statement(Parser& parser, std::string_view name, Args& args);
/// Emits the bindings of `macro` in place of `call`; returns its value, or none.
Value call_graph_macro(Parser& parser, const Ref<Macro>& macro, const ast::Expr* call);

}  // namespace tilewright::script
