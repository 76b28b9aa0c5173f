// Hash-consing of terms, linear sums, saturating bounds.
#include "tilewright/arith/term.h"

#include <algorithm>
#include <numeric>

namespace tilewright::arith {
namespace {

__extension__ using Wide = __int128;

bool same_args(std::span<const Arg> a, std::span<const Arg> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

uint64_t hash_of(Op op, Kind kind, DataType dtype, std::span<const Arg> args, int64_t value,
                 const Object* object) {
  uint64_t hash = mix(static_cast<uint64_t>(op), static_cast<uint64_t>(kind));
  hash = mix(hash, (uint64_t{dtype.code} << 32) | (uint64_t{dtype.bits} << 16) | dtype.lanes);
  hash = mix(hash, static_cast<uint64_t>(value));
  hash = mix(hash, reinterpret_cast<uintptr_t>(object));  // only decides the slot, never an order
  for (const Arg& arg : args) hash = mix(mix(hash, arg.id), static_cast<uint64_t>(arg.coeff));
  return hash;
}

}  // namespace

Id TermTable::intern(Op op, DataType dtype, std::span<const Arg> args, int64_t value, const ObjectRef& object,
                     Kind kind) {
  if (terms_.size() * 2 >= slots_.size()) grow();
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash_of(op, kind, dtype, args, value, object.get()) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      const auto begin = static_cast<uint32_t>(args_.size());
      args_.insert(args_.end(), args.begin(), args.end());
      terms_.push_back(
          {op, kind, dtype, begin, static_cast<uint32_t>(args.size()), value, object, nullptr, 0, {}});
      slots_[slot] = static_cast<Id>(terms_.size());
      return static_cast<Id>(terms_.size() - 1);
    }
    const Id id = slots_[slot] - 1;
    const Term& term = terms_[id];
    if (term.op == op && term.kind == kind && term.dtype == dtype && term.value == value &&
        term.object == object && same_args(this->args(id), args))
      return id;
  }
}

void TermTable::grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 4), 0);
  const size_t mask = slots_.size() - 1;
  for (Id id = 0; id < terms_.size(); ++id) {
    const Term& term = terms_[id];
    size_t slot = hash_of(term.op, term.kind, term.dtype, args(id), term.value, term.object.get()) & mask;
    while (slots_[slot]) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

Linear TermTable::linear(Id id) const {
  const Term& term = terms_[id];
  if (term.op == Op::kConst)
    return {{}, term.value, -Linear::kLimit <= term.value && term.value <= Linear::kLimit};
  if (term.op != Op::kSum) return {{{id, 1}}, 0};
  const auto parts = args(id);
  return {{parts.begin(), parts.end()}, term.value};
}

int64_t Linear::coeff_of(Id id) const {
  auto it =
      std::lower_bound(terms.begin(), terms.end(), id, [](const Arg& arg, Id key) { return arg.id < key; });
  return it != terms.end() && it->id == id ? it->coeff : 0;
}

namespace {
// Computes a + b * scale; returns false on overflow.
bool fused(int64_t a, int64_t b, int64_t scale, int64_t* result) {
  int64_t product;
  return !__builtin_mul_overflow(b, scale, &product) && !__builtin_add_overflow(a, product, result) &&
         std::abs(*result) <= Linear::kLimit && *result != INT64_MIN;
}
}  // namespace

Linear add_scaled(const Linear& a, const Linear& b, int64_t scale) {
  Linear sum;
  sum.is_exact = a.is_exact && b.is_exact && fused(a.constant, b.constant, scale, &sum.constant);
  sum.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->id < y->id)) {
      sum.terms.push_back(*x++);
      continue;
    }
    const bool is_common = x != a.terms.end() && x->id == y->id;
    int64_t coeff = 0;
    sum.is_exact &= fused(is_common ? x->coeff : 0, y->coeff, scale, &coeff);
    if (coeff != 0) sum.terms.push_back({y->id, coeff});
    if (is_common) ++x;
    ++y;
  }
  return sum;
}

Linear scaled(const Linear& a, int64_t scale) { return add_scaled({}, a, scale); }
Linear shifted(Linear a, int64_t value) {
  a.is_exact &= fused(a.constant, value, 1, &a.constant);
  return a;
}

Linear divided(Linear a, int64_t divisor) {
  for (Arg& arg : a.terms) arg.coeff /= divisor;
  a.constant /= divisor;
  return a;
}

int64_t content(const Linear& a) {
  int64_t divisor = 0;
  for (const Arg& arg : a.terms) divisor = std::gcd(divisor, arg.coeff);
  return divisor;
}

// ---- bounds

int64_t saturating_add(int64_t a, int64_t b, int64_t if_opposed) {
  if (is_infinite(a) && is_infinite(b) && a != b) return if_opposed;
  if (is_infinite(a)) return a;
  if (is_infinite(b)) return b;
  const Wide sum = Wide(a) + b;
  return sum >= kPosInf ? kPosInf : sum <= kNegInf ? kNegInf : static_cast<int64_t>(sum);
}

int64_t saturating_mul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) return (a < 0) == (b < 0) ? kPosInf : kNegInf;
  const Wide product = Wide(a) * b;
  return product >= kPosInf ? kPosInf : product <= kNegInf ? kNegInf : static_cast<int64_t>(product);
}

// A lower bound that overflows to kPosInf (or an upper one to kNegInf) becomes the nearest finite value: on
// that side, the infinity is not a bound.
ConstBounds operator+(ConstBounds a, ConstBounds b) {
  ConstBounds sum{saturating_add(a.min, b.min, kNegInf), saturating_add(a.max, b.max, kPosInf)};
  if (sum.min == kPosInf) sum.min = kPosInf - 1;
  if (sum.max == kNegInf) sum.max = kNegInf + 1;
  return sum;
}

ConstBounds operator*(ConstBounds a, ConstBounds b) {
  const int64_t corners[] = {saturating_mul(a.min, b.min), saturating_mul(a.min, b.max),
                             saturating_mul(a.max, b.min), saturating_mul(a.max, b.max)};
  ConstBounds product{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  if (product.min == kPosInf) product.min = kPosInf - 1;
  if (product.max == kNegInf) product.max = kNegInf + 1;
  return product;
}
ConstBounds operator*(ConstBounds a, int64_t scale) { return a * ConstBounds{scale, scale}; }

ConstBounds intersect(ConstBounds a, ConstBounds b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}
ConstBounds hull(ConstBounds a, ConstBounds b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

ConstBounds bounds_of_dtype(DataType dtype) {
  if (!dtype.is_scalar()) return {};
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_uint() && dtype.bits < 64) return {0, (int64_t{1} << dtype.bits) - 1};
  if (dtype.is_int() && dtype.bits < 32)
    return {-(int64_t{1} << (dtype.bits - 1)), (int64_t{1} << (dtype.bits - 1)) - 1};
  return {};
}

}  // namespace tilewright::arith
