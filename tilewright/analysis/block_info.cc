#include "tilewright/analysis/block_info.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// Visits statements only: expressions contain no blocks.
class BlockFinder {
 public:
  std::vector<BlockPlace> found;

  void visit(const Stmt& stmt) {
    if (const auto* loop = stmt.as<ForNode>()) {
      loops_.push_back(For(loop));
      visit_inner(stmt);
      loops_.pop_back();
    } else if (const auto* realize = stmt.as<BlockRealizeNode>()) {
      found.push_back({BlockRealize(realize), loops_, parents_});
      std::vector<For> outer = std::exchange(loops_, {});
      parents_.push_back(realize->block);
      visit_inner(realize->block);
      parents_.pop_back();
      loops_ = std::move(outer);
    } else {
      visit_inner(stmt);
    }
  }

 private:
  void visit_inner(const Stmt& stmt) {
    for_each_inner(stmt, [&](const Stmt& inner) { visit(inner); });
  }

  std::vector<For> loops_;
  std::vector<Block> parents_;
};

std::vector<BlockPlace> children_of(const BlockNode* scope) {
  std::vector<BlockPlace> all = find_blocks(scope->body);
  std::erase_if(all, [](const BlockPlace& place) { return !place.parents.empty(); });
  return all;
}

// Names another block in `scope` that writes a buffer that `block` writes, and the buffer; empty if there is
// none.
std::string other_writer(const BlockNode* block, const BlockNode* scope) {
  for (const BlockPlace& other : children_of(scope)) {
    if (other.block() == block) continue;
    for (const BufferRegion& region : block->writes) {
      if (has_region_of(other.block()->writes, region->buffer.get()))
        return fmt::format("block {} writes buffer {} too", other.block()->name_hint, region->buffer->name);
    }
  }
  return {};
}

std::string_view kind_text(IterType type) {
  constexpr std::string_view kNames[] = {"spatial", "reduce", "scan", "opaque", "thread"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace

std::vector<BlockPlace> find_blocks(const Stmt& root) {
  BlockFinder finder;
  finder.visit(root);
  return std::move(finder.found);
}

BlockPlace find_block(const Stmt& root, std::string_view name) {
  std::vector<BlockPlace> all = find_blocks(root), named;
  for (const BlockPlace& place : all) {
    if (place.block()->name_hint == name) named.push_back(place);
  }
  if (named.size() == 1) return named[0];
  if (named.size() > 1) throw UserError("there are {} blocks called \"{}\"", named.size(), name);
  std::vector<std::string_view> names;
  for (const BlockPlace& place : all) names.push_back(place.block()->name_hint);
  throw UserError("there is no block called \"{}\"", name).help("{}", nearest_names_text(name, names));
}

bool is_reduction_block(const BlockNode* block) {
  return block->init || std::any_of(block->iter_vars.begin(), block->iter_vars.end(),
                                    [](const IterVar& axis) { return axis->iter_type == IterType::kReduce; });
}

std::string why_not_complete(const BlockNode* block, const BlockNode* scope) {
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial)
      return fmt::format("axis {} is a {} axis", axis->var->name_hint, kind_text(axis->iter_type));
  }
  for (const BufferRegion& region : block->writes) {
    if (has_region_of(block->reads, region->buffer.get()))
      return fmt::format("it reads buffer {}, which it writes", region->buffer->name);
  }
  return other_writer(block, scope);
}

std::string why_not_reduction(const BlockNode* block, const BlockNode* scope) {
  if (!block->init) return "it has no T.init";
  std::unordered_set<const Object*> reduced;
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type == IterType::kReduce)
      reduced.insert(axis->var.get());
    else if (axis->iter_type != IterType::kSpatial)
      return fmt::format("axis {} is a {} axis", axis->var->name_hint, kind_text(axis->iter_type));
  }
  std::string reason;
  for (const BufferRegion& region : block->writes) {
    walk(region, [&](const tir::VarNode* var) {
      if (reduced.contains(var))
        reason = fmt::format("reduce axis {} chooses the element of {} that is written", var->name_hint,
                             region->buffer->name);
    });
  }
  return reason.empty() ? other_writer(block, scope) : reason;
}

std::vector<Block> producers_of(const BlockNode* block, const BlockNode* scope) {
  std::vector<Block> result;
  for (const BlockPlace& other : children_of(scope)) {
    if (other.block() == block) continue;
    const auto& writes = other.block()->writes;
    if (std::any_of(writes.begin(), writes.end(), [&](const BufferRegion& region) {
          return has_region_of(block->reads, region->buffer.get());
        }))
      result.push_back(other.realize->block);
  }
  return result;
}

std::vector<Block> consumers_of(const BlockNode* block, const BlockNode* scope) {
  std::vector<Block> result;
  for (const BlockPlace& other : children_of(scope)) {
    if (other.block() == block) continue;
    const auto& reads = other.block()->reads;
    if (std::any_of(reads.begin(), reads.end(), [&](const BufferRegion& region) {
          return has_region_of(block->writes, region->buffer.get());
        }))
      result.push_back(other.realize->block);
  }
  return result;
}

namespace {

// Tracks the path of statements to the current one; for each buffer, keeps the common prefix of the paths to
// its accesses.
class LcaFinder {
 public:
  explicit LcaFinder(bool counts_regions) : counts_regions_(counts_regions) {}
  std::unordered_map<const BufferNode*, std::vector<const StmtNode*>> paths;

  void visit(const Stmt& stmt) {
    path_.push_back(stmt.get());
    // the allocation of a buffer is not an access to it
    if (const auto* block = stmt.as<BlockNode>()) {
      for (const auto* regions : {&block->reads, &block->writes}) {
        if (!counts_regions_) break;
        for (const BufferRegion& region : *regions) inside(region.get(), nullptr);
      }
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
  const bool counts_regions_;  // whether T.reads and T.writes count as accesses
  std::vector<const StmtNode*> path_;
};

}  // namespace

std::unordered_map<const BufferNode*, const StmtNode*> buffer_lcas(const PrimFunc& func) {
  LcaFinder finder(true);
  finder.visit(func->body);
  std::unordered_map<const BufferNode*, const StmtNode*> result;
  for (const auto& [buffer, path] : finder.paths) result[buffer] = path.back();
  for (const Buffer& buffer : func->buffers) {
    if (buffer && result.contains(buffer.get())) result[buffer.get()] = func->body.get();
  }
  return result;
}

namespace {

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
  LcaFinder finder(false);
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

bool has_side_effect(const PrimExpr& expr) {
  bool found = false;
  walk(expr, [&](const CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
    found = found || !builtin || (builtin->effect != Effect::kPure && builtin->effect != Effect::kReadsState);
  });
  return found;
}

}  // namespace tilewright::analysis
