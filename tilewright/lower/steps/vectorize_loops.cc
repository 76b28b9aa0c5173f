// for i in T.vectorized(4): B[i] = A[i] + x
//   ->  B[T.Ramp(0, 1, 4)] = A[T.Ramp(0, 1, 4)] + T.Broadcast(x, 4)
// for i in T.vectorized(4): if i < n: B[i] = A[i]
//   ->  if 0 < n: B[ramp] = A[ramp] where ramp < n (predicates)
// A condition that differs between lanes must hold for the first lane if it holds for any lane, so that
// computations shared by all lanes are harmless.  A body without a vector form (other conditions, calls with
// effects, allocations) stays a serial loop; its annotation "no_vector_form" gives the reason.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

constexpr int64_t kMaxLanes = 256;

// Thrown inside this file: the loop has no vector form.
struct NoVectorForm {
  std::string reason;
};

// True for the ramp of the loop's variable itself, in which no lane overflows.
bool counts_lanes(const RampNode* ramp) {
  const auto* base = ramp->base.as<IntImmNode>();
  return base && base->value == 0 && is_one(ramp->stride) && ramp->base->dtype.bits >= 32;
}

class Vectorizer {
 public:
  Vectorizer(const ForNode* loop, int64_t lanes) : lanes_(static_cast<int>(lanes)) {
    vectors_[loop->loop_var.get()] = RampNode::make(loop->min, imm(1, loop->min->dtype), lanes);
  }

  Stmt stmt(const Stmt& node) {
    if (const auto* list = node.as<SeqStmtNode>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : list->seq) parts.push_back(stmt(part));
      return seq(std::move(parts));
    }
    if (const auto* store = node.as<BufferStoreNode>()) return vector_store(store);
    if (const auto* loop = node.as<ForNode>()) {
      if (is_vector(expr(loop->min)) || is_vector(expr(loop->extent)))
        throw NoVectorForm{"bounds of an inner loop differ between lanes"};
      return with(loop, [&](ForNode& changed) { changed.body = stmt(loop->body); });
    }
    if (const auto* branch = node.as<IfThenElseNode>()) {
      const PrimExpr condition = expr(branch->condition);
      if (is_vector(condition)) return masked(branch, condition);
      return IfThenElseNode::make(condition, stmt(branch->then_case),
                                  branch->else_case ? stmt(branch->else_case) : Stmt());
    }
    if (const auto* let = node.as<LetStmtNode>()) {
      const PrimExpr value = expr(let->value);
      if (!is_vector(value)) return LetStmtNode::make(value, let->var, stmt(let->body));
      const Var var = define(let->var, value);
      return LetStmtNode::make(value, var, stmt(let->body));
    }
    if (const auto* evaluate = node.as<EvaluateNode>()) {
      if (is<IntImmNode>(evaluate->value)) return node;
      throw NoVectorForm{"a call for its effect"};
    }
    throw NoVectorForm{"a statement that each lane needs for itself"};
  }

 private:
  // if ramp < n: body  ->  if the ramp's first lane < n: body with masks
  Stmt masked(const IfThenElseNode* branch, const PrimExpr& condition) {
    if (branch->else_case) throw NoVectorForm{"a condition with an else differs between lanes"};
    const PrimExpr first = first_lane(condition);
    const PrimExpr outer = mask_;
    mask_ = mask_ ? AndNode::make(mask_, condition) : condition;
    Stmt body = stmt(branch->then_case);
    mask_ = outer;
    return IfThenElseNode::make(first, std::move(body));
  }

  // The condition in the first lane, for conditions that hold there if they hold in any lane.
  static PrimExpr first_lane(const PrimExpr& condition) {
    if (!is_vector(condition)) return condition;
    if (const auto* same = condition.as<BroadcastNode>()) return same->value;
    if (const auto* both = condition.as<AndNode>())
      return logical_and(first_lane(both->a), first_lane(both->b));
    const bool less = is<LTNode>(condition) || is<LENode>(condition);
    if (less || is<GTNode>(condition) || is<GENode>(condition)) {
      const auto* node = static_cast<const BinaryOpNode*>(static_cast<const Object*>(condition.get()));
      const auto* ramp = (less ? node->a : node->b).as<RampNode>();
      const auto* bound = (less ? node->b : node->a).as<BroadcastNode>();
      int64_t stride;
      if (ramp && bound && as_const_int(ramp->stride, &stride) && stride > 0)
        return less ? tir::binary(node->kind, ramp->base, bound->value)
                    : tir::binary(node->kind, bound->value, ramp->base);
    }
    throw NoVectorForm{"a condition differs between lanes"};
  }

  static bool is_vector(const PrimExpr& e) { return !e->dtype.is_scalar(); }

  PrimExpr widen(const PrimExpr& e) {
    return is_vector(e) ? e : PrimExpr(BroadcastNode::make(e, static_cast<int64_t>(lanes_)));
  }

  Var define(const Var& scalar, const PrimExpr& value) {
    const Var var = make_var(scalar->name_hint, value->dtype);
    vectors_[scalar.get()] = var;
    return var;
  }

  PrimExpr expr(const PrimExpr& node) {
    if (const auto* var = node.as<VarNode>()) {
      auto vector = vectors_.find(var);
      return vector == vectors_.end() ? node : vector->second;
    }
    if (IntImmNode::classof(*node) || FloatImmNode::classof(*node) || StringImmNode::classof(*node))
      return node;
    if (BinaryOpNode::classof(*node))
      return binary_op(static_cast<const BinaryOpNode*>(static_cast<const Object*>(node.get())));
    if (const auto* negated = node.as<NotNode>()) return NotNode::make(expr(negated->a));
    if (const auto* converted = node.as<CastNode>()) {
      const PrimExpr value = expr(converted->value);
      const auto* ramp = value.as<RampNode>();
      if (ramp && counts_lanes(ramp) && converted->dtype.is_int() &&
          converted->dtype.bits > value->dtype.bits)
        return RampNode::make(tir::cast(converted->dtype, ramp->base),
                              tir::cast(converted->dtype, ramp->stride), ramp->lanes);
      return tir::cast(converted->dtype.element().with_lanes(value->dtype.lanes), value);
    }
    if (const auto* load = node.as<BufferLoadNode>()) return vector_load(load);
    if (const auto* choice = node.as<SelectNode>()) {
      const PrimExpr condition = expr(choice->condition), a = expr(choice->true_value),
                     b = expr(choice->false_value);
      if (!is_vector(condition) && !is_vector(a) && !is_vector(b)) return SelectNode::make(condition, a, b);
      return SelectNode::make(widen(condition), widen(a), widen(b));
    }
    if (const auto* let = node.as<LetNode>()) {
      const PrimExpr value = expr(let->value);
      const Var var = is_vector(value) ? define(let->var, value) : let->var;
      return LetNode::make(value, var, expr(let->body));
    }
    if (const auto* call = node.as<CallNode>()) return vector_call(call);
    throw NoVectorForm{"an expression that is a vector already"};
  }

  // Ramps stay ramps under +, -, multiplication by a scalar and widening, so that accesses are recognised as
  // contiguous.
  PrimExpr binary_op(const BinaryOpNode* node) {
    const PrimExpr a = expr(node->a), b = expr(node->b);
    if (!is_vector(a) && !is_vector(b)) return tir::binary(node->kind, a, b);
    if (mask_ && may_divide_by_zero(node)) throw NoVectorForm{"a guarded division differs between lanes"};
    const auto *x = a.as<RampNode>(), *y = b.as<RampNode>();
    const Kind kind = node->kind;
    if (kind == Kind::kAdd && x && !is_vector(b)) return RampNode::make(x->base + b, x->stride, x->lanes);
    if (kind == Kind::kAdd && y && !is_vector(a)) return RampNode::make(a + y->base, y->stride, y->lanes);
    if (kind == Kind::kAdd && x && y)
      return RampNode::make(x->base + y->base, x->stride + y->stride, x->lanes);
    if (kind == Kind::kSub && x && !is_vector(b)) return RampNode::make(x->base - b, x->stride, x->lanes);
    if (kind == Kind::kMul && x && !is_vector(b)) return RampNode::make(x->base * b, x->stride * b, x->lanes);
    if (kind == Kind::kMul && y && !is_vector(a)) return RampNode::make(a * y->base, a * y->stride, y->lanes);
    return make_binary(kind, widen(a), widen(b));
  }

  PrimExpr vector_load(const BufferLoadNode* load) {
    if (load->predicate) throw NoVectorForm{"a predicated load"};
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : load->indices) indices.push_back(expr(index));
    const bool needs_mask = mask_ && is_vector(indices.back()) && !is_register(load->buffer, indices);
    return BufferLoadNode::make(load->buffer, std::move(indices), needs_mask ? mask_ : PrimExpr());
  }

  // Registers hold whole vectors: touching all lanes is harmless, and masks would force them into memory.
  static bool is_register(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    const auto* ramp = indices.back().as<RampNode>();
    int64_t base, size;
    return buffer->scope() == "local" && indices.size() == 1 && ramp && is_one(ramp->stride) &&
           as_const_int(arith::simplify(ramp->base), &base) && as_const_int(buffer->shape[0], &size) &&
           base >= 0 && base + ramp->lanes <= size;
  }

  PrimExpr vector_call(const CallNode* call) {
    std::vector<PrimExpr> args;
    bool any_vector = false;
    for (const PrimExpr& arg : call->args) {
      args.push_back(expr(arg));
      any_vector |= is_vector(args.back());
    }
    const auto* op = call->op.as<OpNode>();
    const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
    if (!any_vector) {
      if (builtin && builtin->effect == Effect::kPure)
        return CallNode::make(call->dtype, call->op, std::move(args), call->annotations);
      throw NoVectorForm{"a call with an effect"};
    }
    if (!builtin) throw NoVectorForm{"a call of a function"};
    if (builtin->name == "if_then_else") return lanewise_choice(call, std::move(args));
    const bool lanewise = builtin->elementwise || builtin->name == "isnan" || builtin->name == "isinf" ||
                          builtin->name == "isfinite" || builtin->name == "reinterpret" ||
                          builtin->name == "clz";
    if (!lanewise) throw NoVectorForm{"T." + std::string(builtin->name) + " has no vector form"};
    for (PrimExpr& arg : args) arg = widen(arg);
    return CallNode::make(call->dtype.element().with_lanes(lanes_), call->op, std::move(args),
                          call->annotations);
  }

  // T.if_then_else computes only the selected value; with a condition that differs between lanes both are
  // computed, so they must be harmless.
  PrimExpr lanewise_choice(const CallNode* call, std::vector<PrimExpr> args) {
    if (!is_vector(args[0])) {
      const DataType dtype = call->dtype.element().with_lanes(lanes_);
      return CallNode::make(dtype, call->op, std::vector<PrimExpr>{args[0], widen(args[1]), widen(args[2])},
                            call->annotations);
    }
    return SelectNode::make(args[0], harmless(call->args[1], args[0]),
                            harmless(call->args[2], NotNode::make(args[0])));
  }

  // `value`, computed only in the lanes where `condition` holds if it could fault in others.
  PrimExpr harmless(const PrimExpr& value, const PrimExpr& condition) {
    if (!may_fault(value)) return widen(expr(value));
    const PrimExpr outer = mask_;
    mask_ = mask_ ? AndNode::make(mask_, condition) : condition;
    const PrimExpr result = widen(expr(value));
    mask_ = outer;
    bool faults = false;
    walk(
        result,
        [&](const BufferLoadNode* load) {
          faults |= !load->predicate && !is_register(load->buffer, load->indices);
        },
        [&](const CallNode* call) { faults |= !is_pure(call->op); },
        [&](const BinaryOpNode* node) { faults |= may_divide_by_zero(node); });
    if (faults) throw NoVectorForm{"a guarded access differs between lanes"};
    return result;
  }

  static bool may_divide_by_zero(const BinaryOpNode* node) {
    const bool divides = node->kind == Kind::kDiv || node->kind == Kind::kMod ||
                         node->kind == Kind::kFloorDiv || node->kind == Kind::kFloorMod;
    const auto* same = node->b.as<BroadcastNode>();
    int64_t divisor;
    return divides && node->dtype.is_integral() &&
           (!as_const_int(same ? same->value : node->b, &divisor) || divisor == 0);
  }

  static bool may_fault(const PrimExpr& e) {
    bool faults = false;
    walk(
        e, [&](const BufferLoadNode*) { faults = true; },
        [&](const CallNode* call) { faults |= !is_pure(call->op); },
        [&](const BinaryOpNode* node) { faults |= may_divide_by_zero(node); });
    return faults;
  }

  Stmt vector_store(const BufferStoreNode* store) {
    if (store->predicate) throw NoVectorForm{"a predicated store"};
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : store->indices) indices.push_back(expr(index));
    const PrimExpr value = expr(store->value);
    if (!is_vector(indices.back())) {
      if (is_vector(value) || mask_) throw NoVectorForm{"all lanes store to the same element"};
      return BufferStoreNode::make(store->buffer, value, std::move(indices));
    }
    if (mask_ && is_register(store->buffer, indices)) {
      const PrimExpr old = BufferLoadNode::make(store->buffer, indices);
      return BufferStoreNode::make(store->buffer, SelectNode::make(mask_, widen(value), old),
                                   std::move(indices));
    }
    return BufferStoreNode::make(store->buffer, widen(value), std::move(indices), mask_);
  }

  int lanes_;
  PrimExpr mask_;  // the active lanes; null: all
  std::unordered_map<const VarNode*, PrimExpr> vectors_;
};

Stmt serial(const For& loop, std::string reason) {
  return with(loop, [&](ForNode& changed) {
    changed.for_kind = ForKind::kSerial;
    changed.annotations.set("no_vector_form", string_imm(std::move(reason)));
  });
}

PrimFunc vectorize_loops(const PrimFunc& func) {
  return rewrite(func, join_sequences, [](auto& self, const ForNode* node) -> Stmt {
    For loop = self.children(node);
    if (loop->for_kind != ForKind::kVectorized) return loop;
    const auto* extent = loop->extent.template as<IntImmNode>();
    if (!extent) return serial(loop, "the extent is not constant");
    if (extent->value == 1) return substitute(loop->body, {{loop->loop_var.get(), loop->min}});
    if (extent->value < 1 || extent->value > kMaxLanes)
      return serial(loop, "more lanes than " + std::to_string(kMaxLanes));
    try {
      return Vectorizer(loop.get(), extent->value).stmt(loop->body);
    } catch (const NoVectorForm& none) {
      return serial(loop, none.reason);
    }
  });
}

}  // namespace

extern constinit const StepInfo vectorize_loops_info = {
    .name = "vectorize_loops",
    .doc = "vectorized loops are vector expressions, with masks over the edge",
    .uses = kVectorLoops,
    .without = kManyDimensions | kPartsOfBytes,
    .ends = kVectorLoops,
    .makes = kVectors,
    .run = without_options<vectorize_loops>,
};

}  // namespace tilewright::lower
