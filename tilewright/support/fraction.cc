#include "tilewright/support/fraction.h"

#include <cmath>

namespace tilewright {

Fraction simplest_fraction(double value) {
  constexpr double kLargest = 2147483648.0;
  const double size = std::abs(value);
  if (!(size <= kLargest) || size < 1 / kLargest) return {std::llround(value), 1};
  const auto wanted = static_cast<float>(size);
  // Search over the smaller of numerator and denominator; the larger follows from it.  At 2^24 every float32
  // is reached.
  for (int64_t n = 1;; ++n) {
    const auto count = static_cast<double>(n);
    const int64_t over = size < 1 ? n : std::llround(size * count),
                  under = size < 1 ? std::llround(count / size) : n;
    if (static_cast<float>(static_cast<double>(over) / static_cast<double>(under)) == wanted)
      return {value < 0 ? -over : over, under};
  }
}

}  // namespace tilewright
