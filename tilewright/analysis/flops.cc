#include "tilewright/analysis/flops.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/dot_add.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::analysis {
namespace {
using namespace tir;
using Count = std::optional<int64_t>;

Count sum(Count a, Count b) {
  int64_t result = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &result)) return {};
  return result;
}

Count product(Count a, Count b) {
  int64_t result = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &result)) return {};
  return result;
}

bool is_arithmetic(ir::Kind kind) {
  return kind == ir::Kind::kAdd || kind == ir::Kind::kSub || kind == ir::Kind::kMul ||
         kind == ir::Kind::kDiv || kind == ir::Kind::kMin || kind == ir::Kind::kMax;
}

// The value of an extent, a small expression of constants and symbolic sizes.
Count value_of(const PrimExpr& expr, const SizeOf& size_of) {
  if (const auto* number = expr.as<ir::IntImmNode>()) return number->value;
  if (const auto* var = expr.as<VarNode>()) return size_of ? size_of(var) : Count();
  if (const auto* cast = expr.as<CastNode>()) return value_of(cast->value, size_of);
  if (!BinaryOpNode::classof(*expr)) return {};
  const auto& op = static_cast<const BinaryOpNode&>(*expr);
  const Count a = value_of(op.a, size_of), b = value_of(op.b, size_of);
  if (!a || !b) return {};
  switch (expr->kind) {
    case ir::Kind::kAdd: return sum(a, b);
    case ir::Kind::kMul: return product(a, b);
    case ir::Kind::kSub: return *b == INT64_MIN ? Count() : sum(a, -*b);
    case ir::Kind::kMin: return std::min(*a, *b);
    case ir::Kind::kMax: return std::max(*a, *b);
    // sizes are not negative, so floor and truncation agree
    case ir::Kind::kFloorDiv:
    case ir::Kind::kDiv: return *a >= 0 && *b > 0 ? Count(*a / *b) : Count();
    case ir::Kind::kFloorMod:
    case ir::Kind::kMod: return *a >= 0 && *b > 0 ? Count(*a % *b) : Count();
    default: return {};
  }
}

class Counter {
 public:
  /// vector_bytes: count lanes of whole vectors of this size; 0: count operations
  Counter(const SizeOf& size_of, int64_t vector_bytes) : size_of_(size_of), vector_bytes_(vector_bytes) {}

  // The number of operations of one execution of `node`.
  Count count(const ir::Object* node) {
    Count total = 0;
    walk(
        node,
        [&](const ForNode* loop) {
          total = sum(total, count_loop(loop));
          return false;
        },
        [&](const BlockNode* block) {
          total = sum(total, count(block->body.get()));
          return false;
        },
        [&](const IfThenElseNode* branch) {
          total = sum(total, count(branch->condition.get()));
          total = sum(total, longer(branch->then_case.get(), branch->else_case.get()));
          return false;
        },
        [&](const SelectNode* select) {
          total = sum(total, count(select->condition.get()));
          total = sum(total, longer(select->true_value.get(), select->false_value.get()));
          return false;
        },
        [&](const CallNode* call) {
          if (const auto* op = call->op.as<ir::OpNode>(); op && op->name == "tir.if_then_else") {
            total = sum(total, count(call->args[0].get()));
            total = sum(total, longer(call->args[1].get(), call->args[2].get()));
            return false;
          }
          total = sum(total, cost_of(call));
          return true;
        },
        [&](const BufferStoreNode* store) {
          total = sum(total, count_all(store->indices, false));
          total = sum(total, count_all({store->value}, true));
          return false;
        },
        [&](const StmtNode* stmt) {
          if (runs_inner(stmt) == Runs::kOpen) total.reset();
        },
        [&](const BufferLoadNode* load) {
          total = sum(total, count_all(load->indices, false));
          return false;
        },
        [&](const BinaryOpNode* op) {
          if (is_arithmetic(op->kind) && (op->dtype.is_float() || is_of_elements(op)))
            total = sum(total, lanes(op->dtype));
        });
    return total;
  }

 private:
  Count count_loop(const ForNode* loop) {
    const Count extent = value_of(loop->extent, size_of_);
    // an instruction on matrix tiles uses all of its lanes
    if (loop->annotations.get_bool(kMatrixTiles, false))
      return product(extent, Counter(size_of_, 0).count(loop->body.get()));
    if (vector_bytes_ == 0 || loop->for_kind != ForKind::kVectorized)
      return product(extent, count(loop->body.get()));
    const Count outer = std::exchange(vector_extent_, product(vector_extent_, extent));
    const Count total = count(loop->body.get());
    vector_extent_ = outer;
    return total;
  }

  Count count_all(const std::vector<PrimExpr>& values, bool is_stored) {
    const bool outer = std::exchange(is_stored_, is_stored);
    Count total = 0;
    for (const PrimExpr& value : values) total = sum(total, count(value.get()));
    is_stored_ = outer;
    return total;
  }

  // True if integers are values of buffer elements, not indices.
  bool is_of_elements(const BinaryOpNode* op) {
    return is_stored_ && op->dtype.is_integral() && has_load(op);
  }

  // True if `expr` loads from a buffer.  Answers are cached, since it is asked for each operation of an
  // expression.
  bool has_load(const ir::Object* expr) {
    if (const auto known = has_load_.find(expr); known != has_load_.end()) return known->second;
    bool found = false;
    walk(
        expr,
        [&](const BufferLoadNode*) {
          found = true;
          return false;
        },
        [&](const BinaryOpNode* op) {
          if (op == expr) return true;
          found |= has_load(op);
          return false;
        });
    return has_load_[expr] = found;
  }

  Count longer(const ir::Object* a, const ir::Object* b) {
    const Count first = a ? count(a) : 0, second = b ? count(b) : 0;
    return first && second ? Count(std::max(*first, *second)) : Count();
  }

  // The count of one operation on `dtype`.
  Count lanes(DataType dtype) const {
    if (dtype.is_scalable()) return {};
    if (vector_bytes_ == 0) return dtype.lanes;
    const Count used = product(vector_extent_, dtype.lanes);
    const int64_t whole = std::max<int64_t>(vector_bytes_ * 8 / dtype.bits, 1);
    return used ? Count((*used + whole - 1) / whole * whole) : Count();
  }

  Count cost_of(const CallNode* call) {
    const auto* op = call->op.as<ir::OpNode>();
    if (op && op->name == "tir.dot_add") return product(2 * dot_add(call).group, lanes(call->dtype));
    const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
    return call->dtype.is_float() && builtin && builtin->elementwise ? lanes(call->dtype) : Count(0);
  }

  const SizeOf& size_of_;
  const int64_t vector_bytes_;
  Count vector_extent_ = 1;  // of the enclosing vectorized loops
  std::unordered_map<const ir::Object*, bool> has_load_;
  bool is_stored_ = false;  // true inside a value that is stored
};

}  // namespace

std::optional<int64_t> count_flops(const PrimFunc& func, const SizeOf& size_of) {
  return Counter(size_of, 0).count(func->body.get());
}

std::optional<int64_t> count_lanes(const PrimFunc& func, int64_t vector_bytes, const SizeOf& size_of) {
  return Counter(size_of, vector_bytes).count(func->body.get());
}

}  // namespace tilewright::analysis
