// Finds the variables that must be declared at the top of a loop program's text: no
// statement introduces them.
#include <map>

#include "tilewright/ir/walk.h"
#include "tilewright/script/printer/tir_printer.h"

namespace tilewright::script {
using namespace tir;

bool contains_block(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const BlockRealizeNode*) { return found = true, false; },
      [&](const PrimExprNode*) { return false; });
  return found;
}

const VarNode* free_offset(const BufferNode* buffer) {
  const auto* var = buffer->elem_offset.as<VarNode>();
  const DataType dtype = buffer->shape.empty() ? kInt32 : buffer->shape[0]->dtype;
  return var && buffer->offset_factor != 0 && var->dtype == dtype ? var : nullptr;
}

namespace {

class Surveyor {
 public:
  void run(const PrimFuncNode* func) {
    for (const Var& param : func->params) defined_.insert(param.get());
    for (const Buffer& buffer : func->buffers) {
      if (buffer) define_view(buffer.get());
    }
    visit(func->body.get());
  }

  TirSurvey result() {
    TirSurvey survey;
    for (const Var& var : met_) {
      if (!defined_.contains(var.get())) survey.undeclared.push_back(var);
    }
    for (const auto& [axis, count] : launches_) {
      if (count < 2) continue;
      survey.env_threads.push_back(axis);
      survey.launched_again.insert(axis->var.get());
    }
    return survey;
  }

 private:
  void meet(const VarNode* var) {
    if (seen_.insert(var).second) met_.push_back(Var(var));
  }
  void visit(const Object* root) {
    walk(
        root, [&](const VarNode* var) { meet(var); },
        [&](const ForNode* loop) { defined_.insert(loop->loop_var.get()); },
        [&](const LetStmtNode* let) {
          // a typed pointer has no spelling in `with T.LetStmt(...)`, so it is declared and then bound
          if (!let->var->type_annotation) defined_.insert(let->var.get());
        },
        [&](const BlockNode* block) { define_block(block); }, [&](const AttrStmtNode* attr) { launch(attr); },
        [&](const AllocBufferNode* alloc) {
          define_buffer(alloc->buffer.get());
          visit(alloc->body.get());
          return false;
        },
        [&](const DeclBufferNode* decl) {
          visit_dimensions(decl->buffer.get());
          meet(decl->buffer->data.get());
          visit(decl->body.get());
          return false;
        },
        [&](const CommReducerNode* reducer) {
          for (const Var& var : reducer->lhs) defined_.insert(var.get());
          for (const Var& var : reducer->rhs) defined_.insert(var.get());
        },
        [&](const IndexMapNode* map) {
          for (const Var& var : map->initial_indices) defined_.insert(var.get());
        },
        [&](const ReduceNode* reduce) {
          for (const IterVar& axis : reduce->axis) defined_.insert(axis->var.get());
        },
        [&](const BufferNode*) { return false; });
  }
  void define_block(const BlockNode* block) {
    for (const IterVar& axis : block->iter_vars) defined_.insert(axis->var.get());
    for (const Buffer& buffer : block->alloc_buffers) define_buffer(buffer.get());
    for (const MatchBufferRegion& match : block->match_buffers) define_view(match->buffer.get());
  }
  void define_buffer(const BufferNode* buffer) {
    defined_.insert(buffer->data.get());
    visit_dimensions(buffer);
  }
  void define_view(const BufferNode* buffer) {
    define_buffer(buffer);
    defined_.insert(free_offset(buffer));
  }
  void visit_dimensions(const BufferNode* buffer) {
    for (const PrimExpr& extent : buffer->shape) visit(extent.get());
    for (const PrimExpr& stride : buffer->strides) visit(stride.get());
    visit(buffer->elem_offset.get());
  }
  void launch(const AttrStmtNode* attr) {
    const auto* axis = attr->node.as<IterVarNode>();
    if (!axis || attr->attr_key != "thread_extent" || axis->dom || axis->iter_type != IterType::kThread)
      return;
    defined_.insert(axis->var.get());
    for (auto& [known, count] : launches_) {
      if (known->var == axis->var) {
        ++count;
        return;
      }
    }
    launches_.emplace_back(IterVar(axis), 1);
  }

  std::vector<Var> met_;
  std::unordered_set<const VarNode*> seen_, defined_;
  std::vector<std::pair<IterVar, int>> launches_;
};

}  // namespace

TirSurvey survey(const PrimFuncNode* func) {
  Surveyor surveyor;
  surveyor.run(func);
  return surveyor.result();
}

}  // namespace tilewright::script
