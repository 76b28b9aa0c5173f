// Numbers that were written as fractions or decimals, from the floats that files keep of them.
#pragma once
#include <cstdint>

namespace tilewright {

struct Fraction {
  int64_t over = 0, under = 1;  // under is above 0
};

/// The fraction with the smallest numbers that rounds to the same float32 as `value`: 3/5 for 0.6f.
/// `value` is finite; beyond 2^31 and within 2^-31 of 0 it is the nearest integer.
Fraction simplest_fraction(double value);

}  // namespace tilewright
