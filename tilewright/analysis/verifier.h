// The state of one verification; verify.h lists the checks.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/analysis/corner.h"
#include "tilewright/analysis/verify.h"

namespace tilewright::analysis {

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options) : options_(options) {}
  void function(const PrimFunc& func);

 private:
  // verify.cc
  void define(const VarNode* var, const ObjectRef& where);
  void define(const BufferNode* buffer, bool with_data, const ObjectRef& where);
  void forget(const BufferNode* buffer, bool with_data);
  void use(const VarNode* var, const ObjectRef& where);
  void use(const BufferNode* buffer, const ObjectRef& where);
  void expr(const PrimExpr& expr);
  void condition(const PrimExpr& condition, std::string_view what);
  void stmt(const Stmt& stmt);
  void parts(const Stmt& stmt);
  void inner(const Stmt& stmt);
  void loop(const ForNode* loop);
  void attr(const AttrStmtNode* attr);
  void enter_thread(const ForNode* loop);
  void one_extent(const ForNode* loop);
  // verify_block.cc
  void block(const BlockRealizeNode* realize);
  void axes(const BlockRealizeNode* realize);
  void sum_over_threads(const BlockRealizeNode* realize);
  void axis_range(const BlockRealizeNode* realize, const IterVar& axis, const PrimExpr& value);
  void axis_matches_loop(const BlockRealizeNode* realize, const IterVar& axis, const PrimExpr& value);
  void region(const BufferRegion& region, const BlockNode* block);
  void promises(const BlockNode* block);
  void each_access(const BlockNode* block, const Stmt& stmt, const BufferRegion& said,
                   const BufferRegion& all, bool is_write);
  void promise(const BlockNode* block, const BufferRegion& access, const std::vector<BufferRegion>& declared,
               bool is_write);

  const VerifyOptions& options_;
  std::unordered_set<const VarNode*> variables_,
      ever_defined_;  // usable here; defined so far
  std::unordered_set<const BufferNode*> buffers_, ever_buffers_;
  std::vector<RangedVar> ranges_;  // of the enclosing loops and axes, outermost first
  std::unordered_map<const VarNode*, const ForNode*> loops_;
  std::vector<const ForNode*> threads_;         // the enclosing loops over threads
  std::map<std::string, const ForNode*> axes_;  // of the kernel so far: the first loop over each
};

}  // namespace tilewright::analysis
