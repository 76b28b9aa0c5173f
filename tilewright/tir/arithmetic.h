// Exact arithmetic on constants, shared by folding, the simplifier and the interpreter.
#pragma once
#include <optional>

#include "tilewright/ir/expr.h"

namespace tilewright::tir {

/// a // b and a % b with the sign of b (Python's); b != 0.
constexpr int64_t floordiv_int(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a % b < 0) != (b < 0)) ? 1 : 0);
}
constexpr int64_t floormod_int(int64_t a, int64_t b) { return a - floordiv_int(a, b) * b; }
/// a % b of floats, with the sign of b, as numpy.mod has it.
double floormod_float(double a, double b);

/// The value of a binary node of `kind` over integers of `dtype`, wrapped to its width; nullopt if it is
/// undefined (division by zero, signed overflow of the 64-bit result).
std::optional<int64_t> fold_int(ir::Kind kind, int64_t a, int64_t b, DataType dtype);
/// The same over floats, rounded to `dtype`; comparisons give 0 or 1.
std::optional<double> fold_float(ir::Kind kind, double a, double b, DataType dtype);
/// `value` as `dtype` stores it: sign- or zero-extended from its low bits.
int64_t wrap_int(int64_t value, DataType dtype);
/// True if a float `dtype` has only infinities for the finite `value`.
bool overflows(double value, DataType dtype);

}  // namespace tilewright::tir
