// Loops and index arithmetic of int64  ->  of int32, where every intermediate value fits.
//   for i in range(T.int64(8)): A[i * T.int64(16)]  ->  for i in range(8): A[i * 16]
// For C on small machines and for GPUs, where 64-bit values take two registers and several instructions; LLVM
// chooses widths by itself.  Each axis of threads has one loop by then (unify_threads).
#include <limits>
#include <optional>
#include <unordered_map>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

class Narrower {
 public:
  Stmt run(const Stmt& body) {
    return rewrite(
        body, [&](auto& self, const ForNode* node) -> Stmt { return in_loop(self, node); },
        [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
          BufferLoad load = self.children(node);
          const std::optional<std::vector<PrimExpr>> narrowed = indices(self, node->indices);
          return narrowed ? with(load, [&](BufferLoadNode& n) { n.indices = *narrowed; }) : load;
        },
        [&](auto& self, const BufferStoreNode* node) -> Stmt {
          BufferStore store = self.children(node);
          const std::optional<std::vector<PrimExpr>> narrowed = indices(self, node->indices);
          return narrowed ? with(store, [&](BufferStoreNode& n) { n.indices = *narrowed; }) : store;
        },
        [&](auto& self, const BinaryOpNode* node) -> PrimExpr {
          if (node->dtype.is_bool() && node->a->dtype == kInt64) {
            const PrimExpr a = narrow(self, node->a), b = narrow(self, node->b);
            if (a && b) return binary(node->kind, a, b, node->span);
          }
          return self.children(node);
        });
  }

 private:
  template <class Self>
  Stmt in_loop(Self& self, const ForNode* node) {
    const PrimExpr min = node->loop_var->dtype == kInt64 ? narrow(self, node->min) : nullptr;
    const PrimExpr extent = min && fits(node->min + node->extent) ? narrow(self, node->extent) : nullptr;
    if (!extent) return rewrite_loop(self, node, analyzer_);
    const auto scope = analyzer_.enter();
    learn_range(node, analyzer_);
    const Var var = with(node->loop_var, [](VarNode& changed) { changed.dtype = kInt32; });
    narrowed_[node->loop_var.get()] = var;
    self.replace_uses(node->loop_var.get(), cast(kInt64, var));
    return ForNode::make(min, extent, var, node->for_kind, node->thread_tag, node->annotations,
                         self(node->body), node->span);
  }

  // The indices with as many narrowed as possible; nullopt if none can be.
  template <class Self>
  std::optional<std::vector<PrimExpr>> indices(Self& self, const std::vector<PrimExpr>& wide) {
    std::vector<PrimExpr> result;
    bool is_any_narrowed = false;
    for (const PrimExpr& index : wide) {
      const auto* ramp = index.as<RampNode>();
      const PrimExpr narrowed = index->dtype == kInt64 ? narrow(self, index)
                                : ramp                 ? narrow_ramp(self, ramp)
                                                       : nullptr;
      is_any_narrowed |= static_cast<bool>(narrowed);
      result.push_back(narrowed ? narrowed : self(index));
    }
    return is_any_narrowed ? std::optional(result) : std::nullopt;
  }

  template <class Self>
  PrimExpr narrow_ramp(Self& self, const RampNode* ramp) {
    if (ramp->base->dtype != kInt64 || !fits(ramp->base + ramp->stride * (ramp->lanes - 1))) return nullptr;
    const PrimExpr base = narrow(self, ramp->base), stride = base ? narrow(self, ramp->stride) : nullptr;
    return stride ? PrimExpr(RampNode::make(base, stride, ramp->lanes)) : nullptr;
  }

  bool fits(const PrimExpr& expr) {
    using Limits = std::numeric_limits<int32_t>;
    const arith::ConstBounds bounds = analyzer_.const_bounds(expr);
    return bounds.min >= Limits::min() && bounds.max <= Limits::max();
  }

  // The int32 form of an int64 expression; null if some intermediate value may not fit.
  template <class Self>
  PrimExpr narrow(Self& self, const PrimExpr& expr) {
    if (!fits(expr)) return nullptr;
    if (const auto* number = expr.as<IntImmNode>()) return imm(number->value);
    if (const auto* var = expr.as<VarNode>()) {
      auto found = narrowed_.find(var);
      return found == narrowed_.end() ? nullptr : PrimExpr(found->second);
    }
    if (const auto* wider = expr.as<CastNode>())
      return wider->value->dtype == kInt32 ? self(wider->value) : nullptr;
    const auto* node = expr.as<BinaryOpNode>();
    if (!node || node->dtype != kInt64) return nullptr;
    const PrimExpr a = narrow(self, node->a), b = a ? narrow(self, node->b) : nullptr;
    return b ? binary(node->kind, a, b, node->span) : nullptr;
  }

  arith::Analyzer analyzer_;
  std::unordered_map<const VarNode*, Var> narrowed_;
};

PrimFunc narrow_indices(const PrimFunc& func) {
  Stmt body = Narrower().run(func->body);
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

}  // namespace

extern constinit const StepInfo narrow_indices_info = {
    .name = "narrow_indices",
    .doc = "loops and indices of int64 are int32 where all values fit",
    .without = kManyDimensions,
    .run = without_options<narrow_indices>,
};

}  // namespace tilewright::lower
