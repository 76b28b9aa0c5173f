// The state of one parse, shared by all parts of the parser: evaluation of expressions, conversions, errors.
// tir_*.cc and relax_*.cc build functions with it; module.cc is the entry.
#pragma once
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/script/parser/aliases.h"
#include "tilewright/script/parser/args.h"
#include "tilewright/script/parser/names.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::script {
using namespace tir;

struct TirState;
struct RelaxState;

class Parser {
 public:
  Parser(const ast::Tree* tree, const ParseOptions* options);

  // ---- entry: module.cc
  std::vector<std::pair<std::string, ObjectRef>> parse_file();

  // ---- places and errors
  Span span(Place place) const { return tree.span(place); }
  Span span(const ast::Expr* expr) const { return tree.span(expr); }
  std::string_view text(const ast::Expr* expr) const { return tree.source_of(expr); }
  /// Runs `action`; an error without a place is reported at `place`.
  template <class F>
  auto at(Place place, F&& action) {
    try {
      return action();
    } catch (Error& error) {
      error.set_default_span(span(place));
      throw;
    }
  }

  // ---- expressions: eval.cc, operators.cc, subscript.cc
  /// `hints`: the names that the result is assigned to.
  Value eval(const ast::Expr* expr, std::vector<std::string_view> hints = {});
  PrimExpr eval_prim(const ast::Expr* expr);
  Args eval_args(const ast::Expr* call, std::vector<std::string_view> hints);
  Value unary(std::string_view op, const Value& value, Place place);
  Value binary_op(std::string_view op, const Value& a, const Value& b, Place place);
  Value compare(std::string_view op, const Value& a, const Value& b, Place place);
  Value logical(bool is_and, const Value& a, const Value& b, Place place);
  /// The node of `kind` on both sides, converted to one dtype; literals take the dtype of the other side.
  PrimExpr binary_node(ir::Kind kind, const Value& a, const Value& b, Place place);
  /// The same for sides of one dtype; integer division by a constant 0 is refused.
  PrimExpr binary_node(ir::Kind kind, PrimExpr a, PrimExpr b, const Span& span);
  /// Both sides converted to expressions of one dtype.
  std::pair<PrimExpr, PrimExpr> unify(const Value& a, const Value& b, Place place);
  void match_typed(PrimExpr* a, PrimExpr* b, Place place);
  Value graph_unary(std::string_view op, const Value& value, Place place);
  Value graph_binary(std::string_view op, const Value& a, const Value& b, Place place);
  Value subscript(const Value& base, const ast::Expr* expr);
  /// The indices of buffer[...]; one per dimension.
  BufferSlice eval_indices(const Buffer& buffer, const ast::Expr* subscript);
  BufferSlice::Part eval_slice(const ast::Expr* index, const Buffer& buffer, size_t dimension);
  Value graph_subscript(const Value& base, const ast::Expr* expr);
  /// The canonical path of a name in a script module ("tir.axis.spatial"), or empty.
  std::string path_of(const ast::Expr* expr) const;

  // ---- conversions: convert.cc
  PrimExpr to_prim(const Value& value, Place place, std::optional<DataType> literal_dtype = {});
  PrimExpr to_bool(const Value& value, Place place);
  /// `value` as `dtype` exactly: literals take it, narrower values of the same kind are
  /// cast, others are refused.
  PrimExpr to_dtype(const Value& value, DataType dtype, Place place, std::string_view what);
  std::vector<PrimExpr> to_prims(const Value& value, Place place, std::optional<DataType> literal_dtype = {});
  int64_t to_int(const Value& value, Place place, std::string_view what);
  bool to_flag(const Value& value, Place place, std::string_view what);
  std::string to_string(const Value& value, Place place, std::string_view what);
  DataType to_data_type(const Value& value, Place place);
  bool as_data_type(const Value& value, DataType* result);
  /// A value as an attribute: numbers become int64 or float64 literals, lists Arrays, dictionaries Dicts.
  ObjectRef to_object(const Value& value, Place place);
  AttrMap to_attrs(const Value& value, Place place);
  const Sequence& to_sequence(const Value& value, Place place, std::string_view what);

  /// The macro that `call` names, or null; module.cc and Python define macros.
  Ref<Macro> macro_of(const ast::Expr* call) const;

  [[noreturn]] void unknown_name(std::string_view name, Place place);

  const ast::Tree& tree;
  const ParseOptions& options;
  Aliases aliases;
  Names names;
  /// Functions of the module being parsed, by name.
  std::map<std::string, GlobalVar, std::less<>> global_vars;
  std::string module_name;
  /// The declared results of its loop programs.
  std::map<std::string, DataType, std::less<>> results;
  /// The functions of it that are parsed so far; `require` parses one early, because another calls it.
  ir::IRModule parsed;
  std::function<void(std::string_view name)> require;
  /// Parsed graph functions, whose calls are checked when all functions are known.
  std::vector<std::pair<std::string_view, relax::Function>> to_check;
  TirState* tir = nullptr;      // the PrimFunc being parsed
  RelaxState* graph = nullptr;  // the graph function being parsed

 private:
  Value eval_name(const ast::Expr* expr);
  Value eval_attribute(const ast::Expr* expr);
  Value eval_call(const ast::Expr* expr, std::vector<std::string_view> hints);
  Value value_of_path(std::string_view path, const ast::Expr* expr);
  Value call_path(std::string_view path, Args& args);
  Value call_value(const Value& function, Args& args);
  Value eval_compare(const ast::Expr* expr);
  Value eval_if_else(const ast::Expr* expr);
  Value eval_dict(const ast::Expr* expr);
  Sequence eval_items(const std::vector<const ast::Expr*>& items, size_t first);
  bool is_unknown(const ast::Expr* expr) const;
  Value resolve(const ast::Expr* expr);
};

// ---- functions that programs call by their path
using Handler = Value (*)(Parser& parser, Args& args);
struct NamedHandler {
  std::string_view name;  // "axis.spatial"
  Handler handler;
};
/// T.name(...): tir_functions.cc
Value call_tir_function(Parser& parser, std::string_view name, Args& args);
/// R.name(...), a type R.name written without arguments, f(x) in a graph: relax_*.cc
Value call_graph_function(Parser& parser, std::string_view name, Args& args);
/// The result type of a loop program with the annotation after ->; null for none.
ir::Type result_type(Parser& parser, const ast::Expr* annotation);
/// Refuses to use the result of a function that is not known yet as a value.
void require_known_result(const PrimExpr& value, const Span& span);
std::optional<Value> graph_type_of_name(Parser& parser, std::string_view name);
Value call_graph_value(Parser& parser, const Value& function, Args& args);
Value graph_attribute(Parser& parser, const Value& base, std::string_view name, Place place);
Value call_graph_method(Parser& parser, const Value& base, std::string_view name, Args& args);
/// `name = T.int64()` in a graph: the variable of the dimension that types write as the string `name`.
Value graph_dimension(Parser& parser, std::string_view name, DataType dtype, Place place);
/// I.name(...): module.cc
Value call_module_function(Parser& parser, std::string_view name, Args& args);
/// min, max, abs, len, int, float, bool, range over Python values or expressions: builtins.cc
bool is_python_builtin(std::string_view name);
Value call_python_builtin(Parser& parser, std::string_view name, Args& args);
/// x.name(...) of a buffer or expression: methods.cc
Value call_method(Parser& parser, const Value& base, std::string_view name, Args& args);
Value attribute_of(Parser& parser, const Value& base, std::string_view name, Place place);

}  // namespace tilewright::script
