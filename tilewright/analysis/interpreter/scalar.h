// Exact arithmetic on single elements, and access to elements in memory.
#pragma once
#include <optional>
#include <string_view>

#include "tilewright/ir/node.h"
#include "tilewright/support/dtype.h"

namespace tilewright::analysis {

struct Memory;

/// One lane of a value: an integer or bool in `i`, a float in `f`, a pointer as memory and byte offset `i`.
struct Scalar {
  union {
    int64_t i = 0;
    double f;
  };
  Memory* memory = nullptr;
};
inline Scalar int_scalar(int64_t value) {
  Scalar scalar;
  scalar.i = value;
  return scalar;
}
inline Scalar float_scalar(double value) {
  Scalar scalar;
  scalar.f = value;
  return scalar;
}

/// The value of the floating-point type `dtype` nearest to `value`, ties to even.
double round_to(double value, DataType dtype);

/// a op b over integers of `dtype`, wrapping around; comparisons and logic give 0 or 1.  Nullopt for a
/// division by zero.
std::optional<int64_t> int_binary(ir::Kind op, int64_t a, int64_t b, DataType dtype);
/// a op b over floats of `dtype`, rounded; min and max of a NaN operand are NaN.
double float_binary(ir::Kind op, double a, double b, DataType dtype);
int64_t float_compare(ir::Kind op, double a, double b);

/// `value` of type `from` converted to `to`; nullopt if a float does not fit in the integer type.
std::optional<Scalar> convert(Scalar value, DataType from, DataType to);

/// The bits of one value in memory; elements narrower than a byte are packed without gaps.
inline int64_t bits_of(DataType dtype) { return int64_t{dtype.bits} * dtype.lanes; }

/// The element of scalar type `dtype` at bit offset `bit` of `memory`; an element narrower than a byte lies
/// within one byte, the first element in the lowest bits.
Scalar load_element(const char* memory, int64_t bit, DataType dtype);
void store_element(char* memory, int64_t bit, DataType dtype, Scalar value);

/// Computes the math operator `name` ("exp", "pow", "popcount") on up to four operands of `dtype`, rounded;
/// returns false if there is no such operator.
bool math_operator(std::string_view name, const Scalar* args, size_t num_args, DataType dtype,
                   Scalar* result);

}  // namespace tilewright::analysis
