#include "tilewright/analysis/block_info.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::analysis {
namespace {

// Tracks the path of statements to the current one; for each buffer, keeps the common prefix of the paths to
// its accesses.
class LcaFinder {
 public:
  std::unordered_map<const BufferNode*, std::vector<const StmtNode*>> paths;

  void visit(const Stmt& stmt) {
    path_.push_back(stmt.get());
    // neither the allocation of a buffer nor T.reads and T.writes are accesses to it
    if (const auto* block = stmt.as<BlockNode>()) {
      for (const MatchBufferRegion& match : block->match_buffers) inside(match->source.get(), nullptr);
      inside(block->init.get(), nullptr);
      inside(block->body.get(), nullptr);
    } else if (const auto* alloc = stmt.as<AllocBufferNode>()) {
      inside(alloc->body.get(), nullptr);
    } else if (const auto* decl = stmt.as<DeclBufferNode>()) {
      inside(decl->body.get(), nullptr);
    } else {
      inside(stmt.get(), stmt.get());
    }
    path_.pop_back();
  }

 private:
  void inside(const Object* root, const Object* self) {
    walk(
        root,
        [&](const StmtNode* node) {
          if (node == self) return true;
          visit(Stmt(node));
          return false;
        },
        [&](const BufferNode* buffer) {
          meet(buffer);
          return false;
        });
  }
  void meet(const BufferNode* buffer) {
    auto [entry, is_new] = paths.try_emplace(buffer, path_);
    if (is_new) return;
    std::vector<const StmtNode*>& common = entry->second;
    size_t length = 0;
    while (length < common.size() && length < path_.size() && common[length] == path_[length]) ++length;
    common.resize(length);
  }
  std::vector<const StmtNode*> path_;
};

// The tag of the thread, or "parallel" for parallel and vectorized loops; empty if iterations run in order.
std::string concurrency_of(const StmtNode* stmt) {
  if (const auto* loop = Stmt(stmt).as<ForNode>()) {
    if (loop->for_kind == ForKind::kThreadBinding) return loop->thread_tag;
    return loop->for_kind == ForKind::kParallel || loop->for_kind == ForKind::kVectorized ? "parallel" : "";
  }
  const auto* attr = Stmt(stmt).as<AttrStmtNode>();
  const auto* axis = attr && attr->attr_key == "thread_extent" ? attr->node.as<IterVarNode>() : nullptr;
  return axis ? axis->thread_tag : "";
}

}  // namespace

std::unordered_map<const StmtNode*, std::vector<Buffer>> private_buffers(const PrimFunc& func) {
  std::vector<Buffer> candidates;
  std::unordered_set<const VarNode*> pointers;
  walk(
      func->body,
      [&](const BlockNode* block) {
        candidates.insert(candidates.end(), block->alloc_buffers.begin(), block->alloc_buffers.end());
      },
      [&](const VarNode* var) { pointers.insert(var); }, [&](const BufferNode*) { return false; });
  LcaFinder finder;
  if (!candidates.empty()) finder.visit(func->body);
  std::unordered_map<const StmtNode*, std::vector<Buffer>> result;
  for (const Buffer& buffer : candidates) {
    const auto path = finder.paths.find(buffer.get());
    if (path == finder.paths.end() || pointers.contains(buffer->data.get())) continue;
    for (size_t depth = path->second.size(); depth-- > 0;) {
      const StmtNode* stmt = path->second[depth];
      const auto* block = Stmt(stmt).as<BlockNode>();
      if (block && std::find(block->alloc_buffers.begin(), block->alloc_buffers.end(), buffer) !=
                       block->alloc_buffers.end())
        break;
      const std::string concurrency = concurrency_of(stmt);
      const bool is_shared = buffer->scope().starts_with("shared") && concurrency.starts_with("threadIdx");
      if (concurrency.empty() || is_shared) continue;
      result[stmt].push_back(buffer);
      break;
    }
  }
  return result;
}

bool has_conditional_statements(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const BlockRealizeNode* realize) { found = found || !is_one(realize->predicate); },
      [](const BlockNode*) {},
      [&](const StmtNode* inner) {
        const Runs runs = runs_inner(inner);
        found = found || runs == Runs::kPerhaps || runs == Runs::kOpen;
      });
  return found;
}

bool has_conditional_values(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const SelectNode*) { found = true; },
      [&](const CallNode* call) { found = found || is_if_then_else(call); });
  return found;
}

}  // namespace tilewright::analysis
