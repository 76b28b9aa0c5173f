// Recovers the fraction or decimal that a file stored as a float.
#pragma once
#include <cstdint>

namespace tilewright {

struct Fraction {
  int64_t over = 0, under = 1;  // under > 0
};

/// The fraction with the smallest numerator and denominator that rounds to the same float32 as `value`: 3/5
/// for 0.6f. `value` is finite; beyond 2^31 and within 2^-31 of 0 the result is the nearest integer.
Fraction simplest_fraction(double value);

}  // namespace tilewright
