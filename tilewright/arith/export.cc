// Terms to expressions, written the way people write them: large strides first, differences as `a - b`,
// conditions as `a < b`.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "tilewright/arith/state.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {

PrimExpr Analyzer::State::export_term(Id id) {
  if (!terms[id].exported) {
    PrimExpr made = make_expr(id);
    terms[id].exported = std::move(made);
  }
  return terms[id].exported;
}

namespace {
PrimExpr literal(int64_t value, DataType dtype) { return IntImmNode::make(dtype, value); }

// The node kinds that make_binary makes.
Kind node_kind(Op op) {
  switch (op) {
    case Op::kFloorDiv: return Kind::kFloorDiv;
    case Op::kFloorMod: return Kind::kFloorMod;
    case Op::kMin: return Kind::kMin;
    case Op::kMax: return Kind::kMax;
    case Op::kAnd: return Kind::kAnd;
    default: return Kind::kOr;
  }
}
}  // namespace

PrimExpr Analyzer::State::make_expr(Id id) {
  const Term term = terms[id];
  switch (term.op) {
    case Op::kConst: return literal(term.value, term.dtype);
    case Op::kVar: return ref_as<PrimExprNode>(term.object);
    case Op::kSum: return export_sum(terms.linear(id), term.dtype);
    case Op::kProduct: {
      PrimExpr result = export_term(terms.arg(id, 0));
      for (size_t n = 1; n < term.count; ++n) result = MulNode::make(result, export_term(terms.arg(id, n)));
      return result;
    }
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kAnd:
    case Op::kOr: {
      PrimExpr a = export_term(terms.arg(id, 0)), b = export_term(terms.arg(id, 1));
      return make_binary(node_kind(term.op), std::move(a), std::move(b));
    }
    case Op::kMin:
    case Op::kMax: {
      Id first = terms.arg(id, 0), second = terms.arg(id, 1);
      if (terms[first].op == Op::kConst) std::swap(first, second);  // literals to the right
      PrimExpr a = export_term(first), b = export_term(second);
      return make_binary(node_kind(term.op), std::move(a), std::move(b));
    }
    case Op::kGE0:
    case Op::kEQ0: return export_compare(id, false);
    case Op::kNot: {
      const Id inner = terms.arg(id, 0);
      if (terms[inner].op == Op::kEQ0) return export_compare(inner, true);
      return NotNode::make(export_term(inner));
    }
    case Op::kSelect: {
      PrimExpr condition = export_term(terms.arg(id, 0)), a = export_term(terms.arg(id, 1));
      return SelectNode::make(std::move(condition), std::move(a), export_term(terms.arg(id, 2)));
    }
    case Op::kOther: return export_other(id);
  }
  throw InternalError("a term without expression");
}

PrimExpr Analyzer::State::export_scaled(Id id, int64_t factor) {
  PrimExpr value = export_term(id);
  return factor == 1 ? value : PrimExpr(MulNode::make(value, literal(factor, terms[id].dtype)));
}

// The factor that most products of the sum share, if at least two do: i * n + j * n is written (i + j) * n.
Id Analyzer::State::common_factor(const Linear& form) const {
  std::vector<Id> factors;
  auto is_product = [&](const Arg& part) { return terms[part.id].op == Op::kProduct; };
  if (form.terms.size() < 2 || std::none_of(form.terms.begin(), form.terms.end(), is_product)) return kNone;
  for (const Arg& part : form.terms) {
    if (!is_product(part)) {
      factors.push_back(part.id);
      continue;
    }
    Id last = kNone;
    for (const Arg& factor : terms.args(part.id)) {
      if (factor.id != last) factors.push_back(factor.id);  // ascending, so a square counts once
      last = factor.id;
    }
  }
  std::sort(factors.begin(), factors.end());
  Id best = kNone;
  ptrdiff_t most = 1;
  for (auto it = factors.begin(); it != factors.end();) {
    const auto end = std::upper_bound(it, factors.end(), *it);
    if (end - it > most) most = end - it, best = *it;
    it = end;
  }
  return best;
}

// The products of the sum that contain `factor`, divided by it; the others stay in `form`.
Linear Analyzer::State::take_multiples(Id factor, Linear* form) {
  Linear quotient, rest{{}, form->constant};
  for (const Arg& part : form->terms) {
    std::vector<Arg> factors;
    if (terms[part.id].op == Op::kProduct)
      factors.assign(terms.args(part.id).begin(), terms.args(part.id).end());
    const auto it =
        std::find_if(factors.begin(), factors.end(), [&](const Arg& arg) { return arg.id == factor; });
    if (part.id == factor) {
      quotient.constant = part.coeff;
    } else if (it == factors.end()) {
      rest.terms.push_back(part);
    } else {
      factors.erase(it);
      const Id other =
          factors.size() == 1 ? factors[0].id : terms.intern(Op::kProduct, terms[part.id].dtype, factors);
      quotient = add_scaled(quotient, {{{other, 1}}, 0}, part.coeff);
    }
  }
  *form = std::move(rest);
  return quotient;
}

PrimExpr Analyzer::State::export_sum(const Linear& form, DataType dtype) {
  const Id factor = common_factor(form);
  if (factor == kNone) return append_sum(nullptr, form, dtype);
  Linear rest = form;
  const Linear multiples = take_multiples(factor, &rest);
  return append_sum(MulNode::make(export_sum(multiples, dtype), export_term(factor)), rest, dtype);
}

// total + form.  Positive terms come first; for each sign, the largest coefficient comes first.
PrimExpr Analyzer::State::append_sum(PrimExpr total, const Linear& form, DataType dtype) {
  std::vector<Arg> parts = form.terms;
  int64_t constant = form.constant;
  std::sort(parts.begin(), parts.end(), [](const Arg& a, const Arg& b) {
    return std::tuple(a.coeff < 0, -std::abs(a.coeff), a.id) <
           std::tuple(b.coeff < 0, -std::abs(b.coeff), b.id);
  });
  const bool starts_with_constant = !total && !parts.empty() && parts[0].coeff < 0 && constant > 0;
  if (starts_with_constant) total = literal(std::exchange(constant, 0), dtype);
  for (const Arg& part : parts) {
    PrimExpr merged = export_quotient(part, &constant, dtype);
    if (merged) {
      total = total ? PrimExpr(AddNode::make(total, merged)) : merged;
    } else if (!total) {
      total = part.coeff == -1 ? PrimExpr(SubNode::make(literal(0, dtype), export_term(part.id)))
                               : export_scaled(part.id, part.coeff);
    } else if (part.coeff > 0) {
      total = AddNode::make(total, export_scaled(part.id, part.coeff));
    } else {
      total = SubNode::make(total, export_scaled(part.id, -part.coeff));
    }
  }
  if (!total) return literal(constant, dtype);
  if (constant > 0) return AddNode::make(total, literal(constant, dtype));
  return constant < 0 ? PrimExpr(SubNode::make(total, literal(-constant, dtype))) : total;
}

// x // c + k is written (x + k * c) // c if x contains a constant anyway: returns that and clears *constant;
// else null.
PrimExpr Analyzer::State::export_quotient(Arg part, int64_t* constant, DataType dtype) {
  if (part.coeff != 1 || *constant == 0 || terms[part.id].op != Op::kFloorDiv) return nullptr;
  const Id divisor = terms.arg(part.id, 1);
  if (terms[divisor].op != Op::kConst) return nullptr;
  const Linear value = terms.linear(terms.arg(part.id, 0));
  const Linear moved = add_scaled(value, {{}, *constant}, terms[divisor].value);
  if (value.constant == 0 || !moved.is_exact || !fits(moved.constant, dtype)) return nullptr;
  *constant = 0;
  return FloorDivNode::make(export_sum(moved, dtype), export_term(divisor));
}

// Writes form >= 0 with the positive terms on one side and the negated negative terms on the other:
//   less < more + k,   less <= more,   less + k < more,   more >= k,   less < k
PrimExpr Analyzer::State::export_compare(Id id, bool is_negated) {
  const Id value = terms.arg(id, 0);
  const DataType dtype = terms[value].dtype;
  const Linear form = terms.linear(value);
  Linear more, less;
  for (const Arg& part : form.terms)
    (part.coeff > 0 ? more : less).terms.push_back({part.id, std::abs(part.coeff)});
  const int64_t constant = form.constant;
  if (terms[id].op == Op::kEQ0) {
    // more - less + k == 0
    PrimExpr left, right;
    if (less.is_const())
      left = export_sum(more, dtype), right = literal(-constant, dtype);
    else if (more.is_const())
      left = export_sum(less, dtype), right = literal(constant, dtype);
    else if (constant >= 0)
      left = export_sum(shifted(more, constant), dtype), right = export_sum(less, dtype);
    else
      left = export_sum(more, dtype), right = export_sum(shifted(less, -constant), dtype);
    return make_binary(is_negated ? Kind::kNE : Kind::kEQ, std::move(left), std::move(right));
  }
  if (less.is_const()) return GENode::make(export_sum(more, dtype), literal(-constant, dtype));
  if (more.is_const()) {
    if (fits(constant + 1, dtype)) return LTNode::make(export_sum(less, dtype), literal(constant + 1, dtype));
    return LENode::make(export_sum(less, dtype), literal(constant, dtype));
  }
  if (constant == 0) return LENode::make(export_sum(less, dtype), export_sum(more, dtype));
  if (constant > 0 && fits(constant + 1, dtype))
    return LTNode::make(export_sum(less, dtype), export_sum(shifted(more, constant + 1), dtype));
  if (constant > 0) return LENode::make(export_sum(less, dtype), export_sum(shifted(more, constant), dtype));
  return LTNode::make(export_sum(shifted(less, -constant - 1), dtype), export_sum(more, dtype));
}

PrimExpr Analyzer::State::export_other(Id id) {
  const Term term = terms[id];
  if (term.value == kOpaque) return ref_as<PrimExprNode>(term.object);
  std::vector<PrimExpr> args;
  for (size_t n = 0; n < term.count; ++n) args.push_back(export_term(terms.arg(id, n)));
  switch (term.kind) {
    case Kind::kFloatImm: {
      double value;
      std::memcpy(&value, &term.value, sizeof(value));
      return FloatImmNode::make(term.dtype, value);
    }
    case Kind::kCast: return CastNode::make(term.dtype, args[0]);
    case Kind::kNot: return NotNode::make(args[0]);
    case Kind::kSelect: return SelectNode::make(args[0], args[1], args[2]);
    case Kind::kBroadcast: return BroadcastNode::make(args[0], term.value);
    case Kind::kRamp: return RampNode::make(args[0], args[1], term.value);
    case Kind::kLet: return LetNode::make(args[0], ref_as<VarNode>(term.object), args[1]);
    case Kind::kCall: return CallNode::make(term.dtype, ref_as<ExprNode>(term.object), std::move(args));
    case Kind::kProducerLoad: return ProducerLoadNode::make(term.object, std::move(args), term.dtype);
    case Kind::kBufferLoad: {
      PrimExpr predicate;
      if (term.value == 1) {
        predicate = args.back();
        args.pop_back();
      }
      return BufferLoadNode::make(ref_as<BufferNode>(term.object), std::move(args), std::move(predicate));
    }
    default: return binary(term.kind, args[0], args[1]);
  }
}

}  // namespace tilewright::arith
