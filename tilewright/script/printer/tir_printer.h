// The printer of one loop program.
#pragma once
#include <unordered_set>

#include "tilewright/script/printer/writer.h"

namespace tilewright::script {

/// The facts about a function that its first lines depend on.
struct TirSurvey {
  std::vector<tir::Var> undeclared;       // not defined by a statement: dimensions, T.Let, free ones
  std::vector<tir::IterVar> env_threads;  // threads launched more than once
  std::unordered_set<const tir::VarNode*> launched_again;  // their variables
};
TirSurvey survey(const tir::PrimFuncNode* func);
/// The variable of `buffer`'s offset if the parser creates one itself: T.match_buffer(..., offset_factor=4).
const tir::VarNode* free_offset(const tir::BufferNode* buffer);
/// True if a block is executed somewhere in `stmt`.
bool contains_block(const tir::Stmt& stmt);

class TirPrinter {
 public:
  explicit TirPrinter(Writer* writer) : w_(*writer) {}
  void function(const tir::PrimFuncNode* func, std::string_view name);
  /// `is_last`: nothing follows in its scope, so that a statement that holds for the rest needs no `with`.
  void statement(const tir::Stmt& stmt, bool is_last = true);
  /// `T.Buffer((4,), "float32")` and its relatives: `function`, then the arguments that differ from the
  /// defaults.  `first` is printed before the shape.
  void buffer_call(const tir::BufferNode* buffer, std::string_view function, std::string_view first = "",
                   bool with_data = false, const ir::AttrMap& annotations = {},
                   std::string_view usual_scope = "global");

 private:
  // tir_func.cc
  void parameter(const tir::PrimFuncNode* func, size_t index);
  void match_parameters(const tir::PrimFuncNode* func);
  void function_attributes(const tir::PrimFuncNode* func, std::string_view name);
  void declare(const tir::Var& var);
  void declare_variables_of(const tir::BufferNode* buffer);
  void define_buffer(const tir::BufferNode* buffer);
  void body(const tir::PrimFuncNode* func);
  bool has_implied_root(const tir::Stmt& body) const;
  std::string pointer_text(const tir::VarNode* var);
  // tir_block.cc
  void block(const tir::BlockRealizeNode* realize);
  void block_alone(const tir::BlockNode* block);
  void block_inside(const tir::BlockNode* block);
  void axes(const tir::BlockRealizeNode* realize);
  void axis(const tir::IterVar& axis, const tir::PrimExpr& value);
  bool is_plain_loop(const tir::IterVar& axis, const tir::PrimExpr& value) const;
  void regions(std::string_view function, const std::vector<tir::BufferRegion>& regions);
  void allocations(const std::vector<tir::Buffer>& buffers);
  void match_buffer(const tir::MatchBufferRegionNode* match);
  // tir_stmt.cc
  template <class Write>
  void line(const tir::StmtNode* stmt, Write&& write);
  void loops(const tir::ForNode* loop);
  void one_loop(const tir::ForNode* loop);
  void while_loop(const tir::WhileNode* loop);
  void branch(const tir::IfThenElseNode* stmt);
  void let(const tir::LetStmtNode* let, bool is_last);
  void attr(const tir::AttrStmtNode* attr, bool is_last);
  void attr_node(const ir::ObjectRef& node);
  void allocate(const tir::AllocBufferNode* alloc, bool is_last);
  void declare_view(const tir::DeclBufferNode* decl, bool is_last);
  void store(const tir::BufferStoreNode* store);
  void evaluate(const tir::EvaluateNode* evaluate);
  void scope(const tir::Stmt& body);

  Writer& w_;
  TirSurvey survey_;
  std::unordered_map<const tir::VarNode*, const tir::ForNode*> loops_;
  std::unordered_set<const tir::VarNode*> declared_;
  std::vector<ir::ObjectRef> made_;  // statements that are not in the program; kept alive for their names
};

}  // namespace tilewright::script
