// Determinants of small matrices.  Source: Golub and Van Loan, Matrix Computations, 3.4 (elimination with pivots)
#include <cmath>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/thread_pool.h"

namespace tilewright::runtime::builtin {
namespace {

// The determinant of `rows` [n, n], which is changed.
double determinant_of(double* rows, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t row = k + 1; row < n; ++row)
      if (std::abs(rows[row * n + k]) > std::abs(rows[pivot * n + k])) pivot = row;
    if (pivot != k) {
      std::swap_ranges(rows + k * n, rows + (k + 1) * n, rows + pivot * n);
      result = -result;
    }
    const double head = rows[k * n + k];
    result *= head;
    if (head == 0) return result;
    for (int64_t row = k + 1; row < n; ++row) {
      const double factor = rows[row * n + k] / head;
      for (int64_t column = k + 1; column < n; ++column)
        rows[row * n + column] -= factor * rows[k * n + column];
    }
  }
  return result;
}

// x [.., n, n] -> [..]; computed in double
Value determinant(Args args) {
  const Tensor x = input(args, 0, "det"), result = args[1].as_tensor();
  const int64_t n = x.shape().back(), size = n * n;
  with_number_type(x.dtype(), "det", [&]<class T>(T) {
    constexpr int64_t kWork = 1 << 15;
    parallel_for(result.num_elements(), std::max<int64_t>(1, kWork / std::max<int64_t>(1, size * n)),
                 [&](int64_t begin, int64_t end) {
                   std::vector<double> rows(static_cast<size_t>(size));
                   for (int64_t at = begin; at < end; ++at) {
                     const T* matrix = x.data_as<T>() + at * size;
                     for (int64_t k = 0; k < size; ++k)
                       rows[static_cast<size_t>(k)] = static_cast<double>(matrix[k]);
                     result.data_as<T>()[at] =
                         static_cast<T>(static_cast<Wide<T>>(determinant_of(rows.data(), n)));
                   }
                 });
  });
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.det", determinant, 2}};

}  // namespace

std::span<const Entry> determinant_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
