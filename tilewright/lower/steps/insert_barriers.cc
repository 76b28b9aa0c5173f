// Puts a barrier where a thread may touch what another thread of its block wrote, or is still to read, before.
//   S[tx] = A[tx]                        S[tx] = A[tx]
//   B[tx] = S[31 - tx]             ->    T.tvm_storage_sync("shared")
//                                        B[tx] = S[31 - tx]
// Statements are followed in order, with the accesses since the last barrier; a loop's body is followed again with what
// its iterations leave to the next one, and to the one after that.  Where a loop as such needs none, but what came before it
// does, the barrier stands before the loop.  A statement that not all threads execute cannot have one inside.
// An asynchronous copy (ptx_cp_async) writes where it begins, and again where it is waited for (ptx_wait_group): other
// threads see its numbers only after a barrier from there on.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/thread_accesses.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/pointer_use.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

using Accesses = std::vector<ThreadAccess>;

constexpr uint8_t kMany = 2;

/// An access since the last barrier.
struct PendingAccess {
  const ThreadAccess* access;
  std::vector<uint8_t>
      ago;  // iterations since, of each loop around it that is followed; kMany: an unknown number
  friend bool operator==(const PendingAccess&, const PendingAccess&) = default;
};
using Pending = std::vector<PendingAccess>;

const CallNode* evaluated(const Stmt& stmt) {
  const auto* evaluate = stmt.as<EvaluateNode>();
  return evaluate ? evaluate->value.as<CallNode>() : nullptr;
}

bool is_barrier(const Stmt& stmt) {
  const CallNode* call = evaluated(stmt);
  if (!call || !is_call_of(call, "tir.tvm_storage_sync")) return false;
  const auto* scope = call->args[0].as<StringImmNode>();
  return scope && (scope->value == "shared" || scope->value == "global");
}

Stmt barrier() { return EvaluateNode::make(call(kInt32, "tir.tvm_storage_sync", {string_imm("shared")})); }

// Finds the statements of one kernel's body that need a barrier before them.
class Finder {
 public:
  /// `written`: the pointers of memory that the kernel writes; other memory needs no barrier.
  Finder(Threads threads, std::unordered_set<const Object*> written)
      : threads_(std::move(threads)), written_(std::move(written)) {
    for (const auto& [var, range] : threads_.axes) differing_.insert(var.get());
  }

  std::unordered_set<const Object*> find(const Stmt& body) {
    follow(body);
    return std::move(before_);
  }

 private:
  void follow(const Stmt& stmt) {
    if (before_.count(stmt.get())) pending_.clear();
    if (is_barrier(stmt)) return pending_.clear();
    if (is_call_of(evaluated(stmt), "tir.ptx_wait_group")) return end_copies();
    if (const auto* list = stmt.as<SeqStmtNode>()) {
      for (const Stmt& each : list->seq) follow(each);
    } else if (const auto* alloc = stmt.as<AllocBufferNode>()) {
      follow(alloc->body);
    } else if (const auto* view = stmt.as<DeclBufferNode>()) {
      follow(view->body);
    } else if (const auto* attr = stmt.as<AttrStmtNode>()) {
      follow(attr->body);
    } else if (const auto* let = stmt.as<LetStmtNode>()) {
      take(stmt, let->value);
      if (differs(let->value)) differing_.insert(let->var.get());
      lets_[let->var.get()] = let->value;
      follow(let->body);
    } else if (const auto* loop = stmt.as<ForNode>();
               loop && !differs(loop->min) && !differs(loop->extent) && writes(loop->body)) {
      follow_loop(loop);
    } else if (const auto* branch = stmt.as<IfThenElseNode>(); branch && !differs(branch->condition)) {
      follow_branch(branch);
    } else {
      require_no_barrier_inside(stmt);
      take(stmt, stmt);
    }
  }

  void follow_loop(const ForNode* loop) {
    const Pending outside = std::move(pending_);
    pending_.clear();
    loops_.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    // until iterations leave nothing new: each time a barrier is found, at most as often as there are statements
    for (size_t known = before_.size() + 1; known != before_.size();) {
      known = before_.size();
      pending_.clear();
      follow(loop->body);
      for (int again = 0; again < kMany; ++again) {
        begin_iteration();
        follow(loop->body);
      }
    }
    const Pending left = std::move(pending_);
    // an iteration after what came before the loop
    pending_ = outside;
    const std::unordered_set<const Object*> inside = before_;
    follow(loop->body);
    const bool needs_one = before_ != inside;
    before_ = inside;
    if (needs_one) before_.insert(loop);
    loops_.pop_back();
    pending_ = left;
    if (!needs_one)
      pending_.insert(pending_.end(), outside.begin(), outside.end());  // it may have no iteration
  }

  // What is pending lies an iteration of the innermost loop further back.
  void begin_iteration() {
    const size_t depth = loops_.size() - 1;
    Pending older;
    for (PendingAccess& each : pending_) {
      if (each.ago.size() > depth) {
        each.ago[depth] = std::min<uint8_t>(each.ago[depth] + 1, kMany);
        std::fill(each.ago.begin() + static_cast<long>(depth) + 1, each.ago.end(), kMany);
      }
      if (std::ranges::find(older, each) == older.end()) older.push_back(std::move(each));
    }
    pending_ = std::move(older);
  }

  // The copies so far write, some of them now; where they began, what they overwrite was looked at.
  void end_copies() {
    for (const ThreadAccess* copy : copies_) add({copy, std::vector<uint8_t>(1, kMany)});
  }

  void follow_branch(const IfThenElseNode* branch) {
    take(Stmt(branch), branch->condition);
    const Pending outside = pending_;
    const PrimExpr around = condition_;
    follow_under(branch->condition, branch->then_case);
    Pending after = std::move(pending_);
    pending_ = outside;
    if (branch->else_case) follow_under(logical_not(branch->condition), branch->else_case);
    condition_ = around;
    pending_.insert(pending_.end(), after.begin(), after.end());
  }
  void follow_under(const PrimExpr& condition, const Stmt& stmt) {
    const PrimExpr around = condition_;
    condition_ = around ? logical_and(around, condition) : condition;
    follow(stmt);
    condition_ = around;
  }

  // `part`, an expression or all of `stmt`, happens in `stmt` or at its beginning.
  template <class Part>
  void take(const Stmt& stmt, const Part& part) {
    const Accesses& accesses = accesses_of(part);
    for (const ThreadAccess& now : accesses) {
      const bool meets = std::any_of(pending_.begin(), pending_.end(),
                                     [&](const PendingAccess& earlier) { return meet(earlier, &now); });
      if (!meets) continue;
      before_.insert(stmt.get());
      pending_.clear();
      break;
    }
    for (const ThreadAccess& now : accesses) {
      add({&now, std::vector<uint8_t>(loops_.size(), 0)});
      if (now.is_async && std::ranges::find(copies_, &now) == copies_.end()) copies_.push_back(&now);
    }
  }
  void add(PendingAccess access) {
    if (std::ranges::find(pending_, access) == pending_.end()) pending_.push_back(std::move(access));
  }

  // The accesses of a part to memory that the kernel writes; found once, since loops are followed several times.
  template <class Part>
  const Accesses& accesses_of(const Part& part) {
    const auto [known, is_new] = accesses_.try_emplace(part.get());
    if (!is_new) return known->second;
    known->second = thread_accesses(part, loops_, condition_, lets_);
    std::erase_if(known->second,
                  [&](const ThreadAccess& access) { return !written_.count(access.buffer->data.get()); });
    return known->second;
  }

  bool meet(const PendingAccess& earlier, const ThreadAccess* now) {
    const Distance distance = distance_of(earlier, now);
    const auto [known, is_new] =
        meetings_.try_emplace({earlier.access, now, distance.num_equal, distance.iterations});
    if (is_new) known->second = may_meet(*earlier.access, *now, threads_, distance);
    return known->second;
  }

  static Distance distance_of(const PendingAccess& earlier, const ThreadAccess* now) {
    const arith::IterRanges &then = earlier.access->loops, &here = now->loops;
    Distance distance;
    for (size_t n = 0; n < earlier.ago.size() && n < then.size() && n < here.size(); ++n) {
      if (then[n].first != here[n].first) break;
      if (earlier.ago[n] == 1) distance.iterations = 1;
      if (earlier.ago[n] != 0) break;
      ++distance.num_equal;
    }
    return distance;
  }

  // True if the statement writes memory of the block, or waits.
  bool writes(const Stmt& stmt) const {
    bool found = false;
    ir::walk(
        stmt, [&](const BufferStoreNode* store) { found |= written_.count(store->buffer->data.get()) > 0; },
        [&](const EvaluateNode*) { found = true; });
    return found;
  }

  // Statements in a loop or branch that not all threads execute.
  void require_no_barrier_inside(const Stmt& stmt) {
    const bool has_parts = stmt.as<ForNode>() || stmt.as<IfThenElseNode>() || stmt.as<WhileNode>();
    if (!has_parts || !writes(stmt)) return;
    Finder inside(threads_, written_);
    inside.differing_ = differing_;
    inside.loops_ = loops_;
    inside.condition_ = condition_;
    inside.lets_ = lets_;
    ir::walk(stmt, [&](const EvaluateNode* node) {
      if (is_barrier(Stmt(node))) throw_divergent(stmt);
    });
    inside.follow_parts(stmt);
    if (!inside.before_.empty()) throw_divergent(stmt);
  }

  // The parts of a statement, as if all threads executed them.
  void follow_parts(const Stmt& stmt) {
    if (const auto* loop = stmt.as<ForNode>()) {
      follow_loop(loop);
    } else if (const auto* branch = stmt.as<IfThenElseNode>()) {
      follow_branch(branch);
    } else if (const auto* loop_while = stmt.as<WhileNode>()) {
      follow(loop_while->body);
      follow(loop_while->body);
    }
  }

  [[noreturn]] static void throw_divergent(const Stmt& stmt) {
    throw UserError(stmt,
                    "threads would have to wait for each other in a statement that not all of them execute")
        .help("let conditions and loops around the exchange be the same for all threads of a block");
  }

  // True if the value may not be the same for all threads of a block.
  bool differs(const PrimExpr& expr) const {
    bool found = false;
    ir::walk(
        expr, [&](const VarNode* var) { found |= differing_.count(var) > 0; },
        [&](const BufferLoadNode* load) { found |= load->buffer->scope() == "local"; });
    return found;
  }

  const Threads threads_;
  std::unordered_set<const Object*> differing_;  // variables whose value differs between threads
  const std::unordered_set<const Object*> written_;
  std::unordered_set<const Object*> before_;  // statements with a barrier before them
  Pending pending_;
  std::unordered_map<const Object*, Accesses> accesses_;  // of statements and expressions
  std::vector<const ThreadAccess*> copies_;               // asynchronous ones that have begun
  std::map<std::tuple<const ThreadAccess*, const ThreadAccess*, size_t, int64_t>, bool> meetings_;
  arith::IterRanges loops_;
  PrimExpr condition_;
  Substitution lets_;
};

std::unordered_set<const Object*> written_pointers(const Stmt& stmt) {
  std::unordered_set<const Object*> written;
  ir::walk(
      stmt,
      [&](const BufferStoreNode* store) {
        if (store->buffer->scope() != "local") written.insert(store->buffer->data.get());
      },
      [&](const CallNode* call) {
        for (size_t n = 0; n < call->args.size(); ++n) {
          const BufferLoadNode* load = pointed_to(call->args[n]);
          if (load && pointer_use(call, n).writes) written.insert(load->buffer->data.get());
        }
      });
  return written;
}

Stmt with_barriers(const Stmt& body, const Threads& threads) {
  std::unordered_set<const Object*> written = written_pointers(body);
  if (written.empty() || threads.axes.empty()) return body;
  const std::unordered_set<const Object*> before = Finder(threads, std::move(written)).find(body);
  if (before.empty()) return body;
  const auto guarded = [&](auto& self, const auto* node) -> Stmt {
    Stmt stmt = self.children(node);
    return before.count(node) ? seq({barrier(), stmt}) : stmt;
  };
  return rewrite(
      body, join_sequences, [&](auto& self, const ForNode* node) -> Stmt { return guarded(self, node); },
      [&](auto& self, const WhileNode* node) -> Stmt { return guarded(self, node); },
      [&](auto& self, const IfThenElseNode* node) -> Stmt { return guarded(self, node); },
      [&](auto& self, const LetStmtNode* node) -> Stmt { return guarded(self, node); },
      [&](auto& self, const BufferStoreNode* node) -> Stmt { return guarded(self, node); },
      [&](auto& self, const EvaluateNode* node) -> Stmt { return guarded(self, node); });
}

PrimFunc insert_barriers(const PrimFunc& func) {
  Threads threads;
  return rewrite(func, [&](auto& self, const ForNode* loop) -> Stmt {
    const auto axis = kernel_axis(loop);
    if (!axis) return self.children(loop);
    (is_thread_axis(kKernelAxes[*axis]) ? threads.axes : threads.blocks)
        .emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    const auto* inner = loop->body.as<ForNode>();
    const bool is_innermost = !inner || !kernel_axis(inner);
    const Stmt body = is_innermost ? with_barriers(loop->body, threads) : self(loop->body);
    if (is_innermost) threads = {};
    return body == loop->body ? For(loop) : with(loop, [&](ForNode& changed) { changed.body = body; });
  });
}

}  // namespace

extern constinit const StepInfo insert_barriers_info = {
    .name = "insert_barriers",
    .doc = "threads wait for each other where one may touch what another wrote",
    .without = kManyDimensions,
    .run = without_options<insert_barriers>,
};

}  // namespace tilewright::lower
