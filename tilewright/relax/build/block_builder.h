// Builds graph functions binding by binding, in A-normal form, with types inferred at each binding.
//   BlockBuilder bb;
//   bb.function("main", {x, w}, [&] {
//     AnyVar out;
//     bb.dataflow([&] {
//       AnyVar lv = bb.emit(call_op("matmul", {x, w}));
//       out = bb.emit_output(call_op("nn.relu", {lv}));
//     });
//     bb.emit_func_output(out);
//   });
//   IRModule module = bb.get();
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/support/hash.h"
#include "tilewright/te/compute.h"

namespace tilewright::relax {

struct FunctionOptions {
  AttrMap attrs = {};
  bool is_pure = true;
  bool is_private = false;  // without global_symbol: visible only inside the module
  Type ret_type = {};       // the declared type; null: the inferred one
};

/// A function written with tensor expressions, for emit_te: tensors in, tensors out.
using TeFunction = std::function<std::vector<te::Tensor>(const std::vector<te::Tensor>&)>;

class BlockBuilder {
 public:
  /// Functions are added to those of `module` (may be null).
  explicit BlockBuilder(IRModule module = {});

  // ---- functions
  /// Opens a function.  `params` may be given here or to emit_func_output.
  void begin_function(std::string name, std::optional<std::vector<Var>> params = {},
                      FunctionOptions options = {});
  /// Sets the result of the open function, which completes it and adds it to the module.
  /// Raises UserError inside a dataflow block, if no function is open, or unless the
  /// parameters are given once.
  GlobalVar emit_func_output(const Expr& output, std::optional<std::vector<Var>> params = {});
  /// Closes the function.  Raises UserError if it has no output yet.
  void end_function();
  /// Forgets the open function and everything in it, e.g. after an error.
  void abandon_function();
  /// begin_function, body(), end_function; abandoned if body raises.
  void function(std::string name, std::optional<std::vector<Var>> params, const std::function<void()>& body,
                FunctionOptions options = {});

  // ---- dataflow blocks
  void begin_dataflow();
  void end_dataflow();
  void dataflow(const std::function<void()>& body);
  bool current_block_is_dataflow() const;

  // ---- bindings
  /// Binds `value`, normalized, to a new variable: lv, lv1, ... in a dataflow block, gv, gv1, ... outside.
  AnyVar emit(const Expr& value, const std::string& name_hint = "");
  /// As emit, but the variable is visible outside of the dataflow block: gv, gv1, ...
  AnyVar emit_output(const Expr& value, const std::string& name_hint = "");
  AnyVar emit_match_cast(const Expr& value, const Type& pattern, const std::string& name_hint = "");
  /// Adds a binding whose value is already in A-normal form.
  AnyVar emit_normalized(const Binding& binding);
  /// A call_tir of a loop program made from `func`, called `name` in the module.  Equal
  /// programs are added once.
  Call call_te(const std::string& name, const TeFunction& func, const std::vector<Expr>& args);
  AnyVar emit_te(const std::string& name, const TeFunction& func, const std::vector<Expr>& args,
                 const std::string& name_hint = "");

  /// `expr` in A-normal form with its type: operands that are not leaves are bound to new variables first.
  /// Returns the same object if nothing had to change.
  Expr normalize(const Expr& expr);
  /// `func` in A-normal form with all types inferred anew, independent of any open function.
  Function normalize_function(const Function& func);
  /// The value that `var` is bound to, or null for parameters and unknown variables.
  Expr lookup_binding(const AnyVar& var) const;

  // ---- rewriting a part of a function: a scope collects blocks until it is ended
  void begin_scope(const std::vector<Var>& params = {});
  /// The bindings since begin_scope, with `body` (normalized) as the result.
  SeqExpr end_scope(const Expr& body);
  /// Forgets the bindings since begin_scope, e.g. after an error.
  void abandon_scope();
  /// True if a function or scope is open.
  bool is_open() const { return !frames_.empty(); }
  /// Opens a block that belongs to no function; the caller places it.
  void begin_block(bool is_dataflow);
  /// The block with the bindings since begin_block.
  BindingBlock end_block();
  /// The dimensions that types may use at the next binding.
  std::vector<const tir::VarNode*> dims_in_scope() const;

  /// Called with each value, which has its type, before it is bound; does nothing by default.
  std::function<void(const Expr&)> on_bind;

  // ---- the module
  /// The module with all complete functions.
  IRModule get() const;
  /// Adds `func` under `name_hint` or, if that is taken, the first free of name_hint1, ...; characters that
  /// scripts do not allow in names become _.  A loop program without global_symbol that equals one in the
  /// module is not added again.
  GlobalVar add_func(const BaseFunc& func, const std::string& name_hint);
  /// Replaces the function that `var` names, or adds it under that name.
  void update_func(const GlobalVar& var, BaseFunc func);
  /// A variable name that the open function does not use yet.
  std::string unique_name(const std::string& base);

 private:
  // A function or scope under construction.
  struct Frame {
    bool is_function = false, is_done = false;
    std::string name;
    std::optional<std::vector<Var>> params;
    FunctionOptions options;
    std::vector<BindingBlock> blocks;  // finished
    std::vector<Binding> bindings;     // of the open block
    bool in_dataflow = false;
    std::vector<const tir::VarNode*> dims;  // variables that shapes may use
  };

  Frame& frame(std::string_view action);
  GlobalVar append_func(const BaseFunc& func, const std::string& name);
  void define_params(Frame& frame, const std::vector<Var>& params);
  void close_block(Frame& frame);
  AnyVar bind(Expr value, Type type, const std::string& name_hint, bool is_output, const Span& span);
  Expr normalize_operand(const Expr& expr);
  std::vector<Expr> normalize_operands(const std::vector<Expr>& exprs, bool* changed);
  Expr normalize_call(const CallNode* call);
  Expr normalize_if(const IfNode* node);
  SeqExpr normalize_branch(const Expr& branch);
  Expr normalize_seq(const SeqExprNode* seq);
  void normalize_block(const BindingBlock& block);
  void normalize_binding(const Binding& binding);
  const IRModuleNode* module_for_inference() const;

  std::vector<Frame> frames_;
  std::set<std::string> names_;                     // of variables in the open function
  std::map<std::string, int> next_number_;          // by base name: where to look for a free one
  std::unordered_map<const Object*, Expr> values_;  // the values that variables are bound to
  std::unordered_map<const Object*, AnyVar>
      renamed_;    // variables whose inferred type differs from the old one
  IRModule base_;  // attributes of the module
  std::vector<GlobalVar> global_vars_;
  std::vector<BaseFunc> functions_;
  std::map<std::string, size_t, std::less<>> function_index_;
  std::map<std::string, int> next_function_number_;
  std::map<Hash128, std::vector<size_t>> prim_funcs_;  // by content
  mutable IRModule cached_;                            // the result of get(); null after a change
};

/// True if `body` has the same bindings and result as `old_body`, a SeqExpr with its type.
bool is_same_body(const Expr& old_body, const SeqExpr& body);
/// `func` with other parameters and another normalized body, and the type that follows.  Returns `func`
/// itself if both are unchanged.  The declared result type stays if the body has it.
/// Types may use `outer_dims`.
Function with_body(const Function& func, const std::vector<Var>& params, const SeqExpr& body,
                   std::vector<const tir::VarNode*> outer_dims = {});

}  // namespace tilewright::relax
