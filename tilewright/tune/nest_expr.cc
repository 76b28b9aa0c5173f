#include "tilewright/tune/nest_expr.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tilewright/tir/dot_add.h"
#include "tilewright/tir/op.h"

namespace tilewright::tune {
using namespace tir;
using ir::Kind;

namespace {

// shared expressions would be visited again and again
constexpr int64_t kMostNodes = 4096;

std::optional<double> constant(const Index& index) {
  return index.terms.empty() && index.is_known ? std::optional(index.base) : std::nullopt;
}

Index sum(Index a, const Index& b, double sign) {
  a.base += sign * b.base;
  a.is_known &= b.is_known;
  for (const Term& term : b.terms) {
    const auto same = std::find_if(a.terms.begin(), a.terms.end(), [&](const Term& other) {
      return other.loop == term.loop && other.divisor == term.divisor && other.extent == term.extent;
    });
    if (same == a.terms.end()) {
      a.terms.push_back(term);
      a.terms.back().coef *= sign;
    } else if ((same->coef += sign * term.coef) == 0) {
      a.terms.erase(same);
    }
  }
  return a;
}

Index scaled(Index a, double factor) {
  a.base *= factor;
  for (Term& term : a.terms) term.coef *= factor;
  if (factor == 0) a.terms.clear();
  return a;
}

Index unknown(Index a, const Index& b) {
  a = sum(std::move(a), b, 1);
  a.is_known = false;
  return a;
}

bool is_multiple(double value, double of) { return std::fmod(value, of) == 0; }

// The terms of `a` that are no multiples of `divisor`, and the range of their values.
struct Rest {
  std::vector<Term> terms;
  double span = 0;
};
Rest rest_of(const Index& a, double divisor) {
  Rest rest;
  for (const Term& term : a.terms) {
    if (is_multiple(term.coef, divisor)) continue;
    rest.terms.push_back(term);
    rest.span += std::abs(term.coef) * (term.extent - 1);
  }
  rest.span += std::fmod(a.base, divisor);
  return rest;
}

Index floordiv(const Index& a, double divisor) {
  const Rest rest = rest_of(a, divisor);
  Index result{std::floor(a.base / divisor), {}, a.is_known};
  for (const Term& term : a.terms) {
    if (is_multiple(term.coef, divisor)) {
      result.terms.push_back({term.loop, term.coef / divisor, term.extent, term.divisor});
    } else if (rest.span >= divisor) {
      const double steps = divisor / std::abs(term.coef);  // of the term, until the quotient changes
      if (rest.terms.size() == 1 && is_multiple(divisor, term.coef))
        result.terms.push_back({term.loop, term.coef < 0 ? -1.0 : 1.0, std::ceil(term.extent / steps),
                                static_cast<int64_t>(static_cast<double>(term.divisor) * steps)});
      else
        result.terms.push_back({term.loop, term.coef / divisor, term.extent, term.divisor});
    }
  }
  return result;
}

Index floormod(const Index& a, double divisor) {
  const Rest rest = rest_of(a, divisor);
  Index result{std::fmod(a.base, divisor), rest.terms, a.is_known};
  if (rest.span < divisor) return result;
  for (Term& term : result.terms)
    term.extent = std::min(term.extent, std::max(1.0, std::ceil(divisor / std::abs(term.coef))));
  return result;
}

bool is_index_of_choice(const CallNode* call) { return is_if_then_else(call) && call->args.size() == 3; }

}  // namespace

Index NestExprs::binary(const BinaryOpNode* op) {
  Index a = visit(op->a), b = visit(op->b);
  switch (op->kind) {
    case Kind::kAdd: return sum(std::move(a), b, 1);
    case Kind::kSub: return sum(std::move(a), b, -1);
    case Kind::kMul:
      if (const auto factor = constant(b)) return scaled(std::move(a), *factor);
      if (const auto factor = constant(a)) return scaled(std::move(b), *factor);
      return unknown(std::move(a), b);
    case Kind::kDiv:
    case Kind::kFloorDiv:
      if (const auto divisor = constant(b); divisor && *divisor > 0) return floordiv(a, *divisor);
      return unknown(std::move(a), b);
    case Kind::kMod:
    case Kind::kFloorMod:
      if (const auto divisor = constant(b); divisor && *divisor > 0) return floormod(a, *divisor);
      return unknown(std::move(a), b);
    case Kind::kMin:
    case Kind::kMax: return a.span() >= b.span() ? a : b;
    default: return unknown(std::move(a), b);
  }
}

Index NestExprs::index(const PrimExpr& expr) {
  budget_ = kMostNodes;
  return visit(expr);
}

Index NestExprs::visit(const PrimExpr& expr) {
  if (!expr) return {};
  if (--budget_ < 0) return Index{0, {}, false};
  switch (expr->kind) {
    case Kind::kIntImm: return Index{static_cast<double>(expr.as<IntImmNode>()->value), {}};
    case Kind::kVar: {
      // the last one: a block's axis may have the name of no other, but shared variables are bound again
      for (size_t n = vars_.size(); n-- > 0;) {
        if (vars_[n].first == expr.get()) return vars_[n].second;
      }
      return {};  // a size: the same in all iterations
    }
    case Kind::kCast: return visit(expr.as<CastNode>()->value);
    case Kind::kRamp: return visit(expr.as<RampNode>()->base);
    case Kind::kBroadcast: return visit(expr.as<BroadcastNode>()->value);
    case Kind::kSelect: return visit(expr.as<SelectNode>()->true_value);
    case Kind::kCall:
      if (const auto* call = expr.as<CallNode>(); is_index_of_choice(call)) return visit(call->args[1]);
      return Index{0, {}, false};
    case Kind::kBufferLoad: {
      Index result;
      for (const PrimExpr& each : expr.as<BufferLoadNode>()->indices) result = unknown(result, visit(each));
      return result;
    }
    default:
      if (BinaryOpNode::classof(*expr)) return binary(static_cast<const BinaryOpNode*>(expr.get()));
      return Index{0, {}, false};
  }
}

void NestExprs::add_view(const MatchBufferRegion& view) {
  View made{view->buffer.get(), source_of(view->source->buffer.get()), {}};
  std::vector<PrimExpr> begins;
  for (const Range& range : view->source->region) begins.push_back(range->min);
  made.begin = indices(view->source->buffer.get(), begins);
  views_.push_back(std::move(made));
}

const NestExprs::View* NestExprs::view_of(const BufferNode* buffer) const {
  const auto found =
      std::find_if(views_.begin(), views_.end(), [&](const View& view) { return view.buffer == buffer; });
  return found == views_.end() ? nullptr : &*found;
}

const BufferNode* NestExprs::source_of(const BufferNode* buffer) const {
  const View* view = view_of(buffer);
  return view ? view->source : buffer;
}

std::vector<Index> NestExprs::indices(const BufferNode* buffer, const std::vector<PrimExpr>& written) {
  std::vector<Index> result;
  for (const PrimExpr& each : written) result.push_back(index(each));
  const View* view = view_of(buffer);
  if (!view) return result;
  // dimensions of a view are the last ones of its source
  std::vector<Index> moved = view->begin;
  for (size_t n = 0; n < std::min(moved.size(), result.size()); ++n) {
    Index& place = moved[moved.size() - 1 - n];
    place = sum(std::move(place), result[result.size() - 1 - n], 1);
  }
  return moved;
}

namespace {

// Counts the operations of values.
class Counter {
 public:
  Counter(Operations& operations, const std::function<void(const BufferLoadNode*)>& on_load)
      : operations_(operations), on_load_(on_load) {}

  void visit(const PrimExpr& expr) {
    if (!expr || --budget_ < 0) return;
    switch (expr->kind) {
      case Kind::kBufferLoad: return on_load_(expr.as<BufferLoadNode>());
      case Kind::kCast: operations_.casts += lanes(expr); return visit(expr.as<CastNode>()->value);
      case Kind::kBroadcast: return visit(expr.as<BroadcastNode>()->value);
      case Kind::kLet: visit(expr.as<LetNode>()->value); return visit(expr.as<LetNode>()->body);
      case Kind::kNot: return visit(expr.as<NotNode>()->a);
      case Kind::kSelect: {
        const auto* select = expr.as<SelectNode>();
        operations_.choices += lanes(expr);
        return visit_all({select->condition, select->true_value, select->false_value});
      }
      case Kind::kShuffle: return visit_all(expr.as<ShuffleNode>()->vectors);
      case Kind::kCall: return visit_call(expr.as<CallNode>());
      default:
        if (BinaryOpNode::classof(*expr)) visit_binary(static_cast<const BinaryOpNode*>(expr.get()));
    }
  }

 private:
  static double lanes(const PrimExpr& expr) { return expr->dtype.is_scalable() ? 1 : expr->dtype.lanes; }

  void visit_all(const std::vector<PrimExpr>& exprs) {
    for (const PrimExpr& each : exprs) visit(each);
  }

  void visit_call(const CallNode* call) {
    const auto* op = call->op.as<ir::OpNode>();
    const BuiltinOp* builtin = op ? find_builtin(op->name) : nullptr;
    const double count = call->dtype.is_scalable() ? 1 : call->dtype.lanes;
    if (is_call_of(call, "tir.dot_add"))
      operations_.dots += count;
    else if (is_if_then_else(call))
      operations_.choices += count;
    else if (!builtin || builtin->elementwise)
      operations_.math += count;
    visit_all(call->args);
  }

  void visit_binary(const BinaryOpNode* op) {
    const double count = op->dtype.is_scalable() ? 1 : op->dtype.lanes;
    const bool is_sum = op->kind == Kind::kAdd || op->kind == Kind::kSub;
    if (op->dtype.is_float() && is_sum) {
      const auto* product = op->b.as<MulNode>() ? op->b.as<MulNode>() : op->a.as<MulNode>();
      if (product) {
        operations_.float_fma += count;
        visit(product == op->b.get() ? op->a : op->b);
        visit(product->a);
        return visit(product->b);
      }
    }
    counter_of(op) += count;
    visit(op->a);
    visit(op->b);
  }

  double& counter_of(const BinaryOpNode* op) {
    const bool is_float = op->dtype.is_float();
    switch (op->kind) {
      case Kind::kAdd:
      case Kind::kSub: return is_float ? operations_.float_add : operations_.int_add;
      case Kind::kMul: return is_float ? operations_.float_mul : operations_.int_mul;
      case Kind::kDiv: return is_float ? operations_.float_div : operations_.int_div;
      case Kind::kMod:
      case Kind::kFloorDiv:
      case Kind::kFloorMod: return operations_.int_div;
      default: return is_float ? operations_.float_other : operations_.choices;
    }
  }

  Operations& operations_;
  const std::function<void(const BufferLoadNode*)>& on_load_;
  int64_t budget_ = kMostNodes;
};

}  // namespace

void NestExprs::value(const PrimExpr& expr, Operations& operations,
                      const std::function<void(const BufferLoadNode*)>& on_load) {
  Counter(operations, on_load).visit(expr);
}

}  // namespace tilewright::tune
