// What is known while the body of a graph function is parsed.
#pragma once
#include <map>
#include <unordered_set>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/script/parser/macros.h"
#include "tilewright/script/parser/parser.h"

namespace tilewright::script {

/// The bindings of one body: plain ones and those of dataflow blocks, in order.
struct BindingList {
  std::vector<relax::BindingBlock> blocks;
  std::vector<relax::Binding> bindings;  // of the block that is open
  bool in_dataflow = false;
  /// Outputs of the open dataflow block and how often each is still assigned: the last time it is the output.
  std::map<std::string, int, std::less<>> outputs;
  void close_block();
};

struct RelaxState {
  std::string name;
  BindingList* out = nullptr;
  AttrMap attrs;
  bool is_pure = true;
  bool check_well_formed = true;  // of the decorator: refuse side effects where there are none
  std::map<std::string, tir::Var, std::less<>> dims;
  std::vector<std::pair<tir::Var, Place>> used_dims;   // first uses, for messages
  std::unordered_set<const tir::VarNode*> known_dims;  // defined by parameters and match_cast
  ir::Expr result;                                     // of the return statement
  const ir::Object* fresh = nullptr;                   // a variable that R.match_cast has bound
  bool in_branch = false;
  bool in_macro = false;  // a return gives the value of a macro, not of the function
  MacroCalls macros;
  RelaxState* outer = nullptr;  // of the function around this one
  relax::Var self;              // of a function inside another: what it is called in its own body
};

// relax_types.cc
/// R.Tensor(...) and the other types; nothing if `name` is none.
std::optional<Value> call_graph_type(Parser& parser, std::string_view name, Args& args);
ir::Type to_type(Parser& parser, const Value& value, Place place);
/// An extent: a number, an expression or its text.
PrimExpr to_extent(Parser& parser, const Value& value, Place place);
relax::Shape to_shape(Parser& parser, const Value& value, Place place);
/// The numbers of R.shape or of an argument, which may be negative: R.reshape(x, (-1, 4)).
relax::Shape to_shape_values(Parser& parser, const Sequence& list, Place place);
/// The name of a device, "llvm:0", given as text or by I.vdevice("llvm", 0).
std::string device_name(Parser& parser, const Value& value, Place place);

// relax_values.cc
/// A graph value: tuples of lists, R.prim_value of scalars, R.str of strings.
ir::Expr to_graph(Parser& parser, const Value& value, Place place);
/// `value` as an argument: what is no leaf gets a variable of its own first.
ir::Expr to_leaf(Parser& parser, const ir::Expr& value, Place place);
relax::Constant constant_of(Parser& parser, const Value& value, std::optional<DataType> dtype, Place place);

// relax_calls.cc
std::optional<Value> call_graph_special(Parser& parser, std::string_view name, Args& args);
Value call_operator(Parser& parser, std::string_view name, Args& args);
relax::Call make_call(Parser& parser, std::string_view op, std::vector<ir::Expr> args, AttrMap attrs,
                      std::vector<ir::Type> type_args, const Span& span);
/// The type that inference finds.
ir::Type infer(Parser& parser, const ir::Expr& expr, const Span& span);

// relax_func.cc
/// var = value, in the open block.
relax::AnyVar emit(Parser& parser, std::string_view name, const ir::Expr& value, const ir::Type& annotation,
                   Place place);
relax::AnyVar emit_match_cast(Parser& parser, std::string_view name, const ir::Expr& value,
                              const ir::Type& pattern, Place place);

// relax_stmt.cc
std::optional<Value> call_graph_statement(Parser& parser, std::string_view name, Args& args);
/// The bindings of `macro` where `call` stands in a graph; what it returns, or nothing.
Value call_graph_macro(Parser& parser, const Ref<Macro>& macro, const ast::Expr* call);

}  // namespace tilewright::script
