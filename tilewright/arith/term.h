// Terms: the analyzer's representation of expressions.  Each distinct term exists once and has a small
// number, so that equality is one comparison; sums are flat: coefficients of their terms.  Numbers are
// assigned in order of creation, which gives a deterministic order for commutative operands.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/arith/analyzer.h"

namespace tilewright::arith {

using Id = uint32_t;

enum class Op : uint8_t {
  kConst,     // value
  kVar,       // object
  kSum,       // sum of coeff * term, + value; at least two summands
  kProduct,   // two or more factors in ascending order, none of them constant
  kFloorDiv,  // args[0] // args[1]
  kFloorMod,  // args[0] % args[1]
  kMin,       // args in ascending order
  kMax,
  kGE0,  // args[0] >= 0
  kEQ0,  // args[0] == 0
  kAnd,  // args[0] and args[1]
  kOr,
  kNot,
  kSelect,  // args: condition, value if true, value if false
  kOther,   // an IR node of `kind` whose children are args; see import.cc
};

struct Arg {
  Id id;
  int64_t coeff = 1;
  friend bool operator==(const Arg&, const Arg&) = default;
};

/// constant + sum of coeff * term over int64, terms ascending, no coeff 0.
struct Linear {
  std::vector<Arg> terms;
  int64_t constant = 0;
  bool is_exact = true;  // false once a coefficient left [-kLimit, kLimit]: the rest is then meaningless

  static constexpr int64_t kLimit = int64_t{1} << 62;  // far from the infinities of bounds
  bool is_const() const { return terms.empty(); }
  int64_t coeff_of(Id id) const;
  friend bool operator==(const Linear&, const Linear&) = default;
};
/// a + b * scale
Linear add_scaled(const Linear& a, const Linear& b, int64_t scale);
inline Linear operator+(const Linear& a, const Linear& b) { return add_scaled(a, b, 1); }
inline Linear operator-(const Linear& a, const Linear& b) { return add_scaled(a, b, -1); }
Linear scaled(const Linear& a, int64_t scale);
/// a + value
Linear shifted(Linear a, int64_t value);
/// a / divisor, which divides every coefficient and the constant.
Linear divided(Linear a, int64_t divisor);
/// The greatest common divisor of the coefficients (not of the constant); 0 if there are none.
int64_t content(const Linear& a);

struct Term {
  Op op;
  Kind kind;  // kind of the IR node, for kOther; kCount for an opaque term, which has no args
  DataType dtype;
  uint32_t begin, count;  // range of its args
  int64_t value;          // the constant; for kOther other data of its identity (lanes, bits of a float)
  ObjectRef object;       // variable, buffer, operator; for an opaque term the expression itself
  PrimExpr exported;      // its expression, once it was requested
  uint32_t bounds_epoch = 0;
  ConstBounds bounds;
};

class TermTable {
 public:
  const Term& operator[](Id id) const { return terms_[id]; }
  Term& operator[](Id id) { return terms_[id]; }
  std::span<const Arg> args(Id id) const { return {args_.data() + terms_[id].begin, terms_[id].count}; }
  Id arg(Id id, size_t n) const { return args_[terms_[id].begin + n].id; }
  size_t size() const { return terms_.size(); }

  Id constant(int64_t value, DataType dtype) { return intern(Op::kConst, dtype, {}, value); }
  /// The term with these operands, new or existing.  `args` must not point into the table.
  Id intern(Op op, DataType dtype, std::span<const Arg> args, int64_t value = 0,
            const ObjectRef& object = nullptr, Kind kind = Kind::kCount);
  /// An integer term as a sum.
  Linear linear(Id id) const;

 private:
  void grow();
  std::vector<Term> terms_;
  std::vector<Arg> args_;
  std::vector<Id> slots_;  // open addressing: term number + 1, or 0
};

// ---- int64 arithmetic that saturates at the infinities
inline bool is_infinite(int64_t value) { return value == kNegInf || value == kPosInf; }
int64_t saturating_add(int64_t a, int64_t b, int64_t if_opposed);
int64_t saturating_mul(int64_t a, int64_t b);
ConstBounds operator+(ConstBounds a, ConstBounds b);
ConstBounds operator*(ConstBounds a, ConstBounds b);
ConstBounds operator*(ConstBounds a, int64_t scale);
ConstBounds intersect(ConstBounds a, ConstBounds b);
ConstBounds hull(ConstBounds a, ConstBounds b);
/// The values that `dtype` can hold; unbounded for int32 and int64, which are assumed not to overflow.
ConstBounds bounds_of_dtype(DataType dtype);

/// True if a literal of `dtype` can hold `value`.
inline bool fits(int64_t value, DataType dtype) {
  return dtype != kInt32 || (value >= INT32_MIN && value <= INT32_MAX);
}

}  // namespace tilewright::arith
