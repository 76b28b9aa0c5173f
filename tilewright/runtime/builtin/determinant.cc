// Determinants and inverses of small matrices.  Source: Golub and Van Loan, Matrix Computations, 3.4 (elimination with pivots)
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

void store_determinant(double* rows, int64_t n, double* result) { *result = determinant_of(rows, n); }

// The inverse of `rows` [n, n], which is changed: what makes the identity of it, done to the identity.
void store_inverse(double* rows, int64_t n, double* result) {
  for (int64_t k = 0; k < n * n; ++k) result[k] = k % (n + 1) == 0 ? 1 : 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t row = k + 1; row < n; ++row)
      if (std::abs(rows[row * n + k]) > std::abs(rows[pivot * n + k])) pivot = row;
    if (pivot != k) {
      std::swap_ranges(rows + k * n, rows + (k + 1) * n, rows + pivot * n);
      std::swap_ranges(result + k * n, result + (k + 1) * n, result + pivot * n);
    }
    const double head = rows[k * n + k];
    for (int64_t column = 0; column < n; ++column)
      rows[k * n + column] /= head, result[k * n + column] /= head;
    for (int64_t row = 0; row < n; ++row) {
      const double factor = rows[row * n + k];
      for (int64_t column = 0; row != k && column < n; ++column) {
        rows[row * n + column] -= factor * rows[k * n + column];
        result[row * n + column] -= factor * result[k * n + column];
      }
    }
  }
}

// x [.., n, n], each matrix in double, -> `count` numbers for each, by `store`.
void each_matrix(const Tensor& x, const Tensor& result, int64_t count,
                 void (*store)(double* rows, int64_t n, double* result)) {
  const int64_t n = x.shape().back(), size = n * n;
  if (result.num_elements() == 0) return;
  with_number_type(x.dtype(), "a function of matrices", [&]<class T>(T) {
    constexpr int64_t kWork = 1 << 15;
    parallel_for(result.num_elements() / count, std::max<int64_t>(1, kWork / std::max<int64_t>(1, size * n)),
                 [&](int64_t begin, int64_t end) {
                   std::vector<double> rows(static_cast<size_t>(size)), made(static_cast<size_t>(count));
                   for (int64_t at = begin; at < end; ++at) {
                     const T* matrix = x.data_as<T>() + at * size;
                     for (int64_t k = 0; k < size; ++k)
                       rows[static_cast<size_t>(k)] = static_cast<double>(matrix[k]);
                     store(rows.data(), n, made.data());
                     for (int64_t k = 0; k < count; ++k)
                       result.data_as<T>()[at * count + k] =
                           static_cast<T>(static_cast<Wide<T>>(made[static_cast<size_t>(k)]));
                   }
                 });
  });
}

Value determinant(Args args) {
  each_matrix(input(args, 0, "det"), args[1].as_tensor(), 1, store_determinant);
  return {};
}

Value inverse(Args args) {
  const Tensor x = input(args, 0, "inverse");
  each_matrix(x, args[1].as_tensor(), x.shape().back() * x.shape().back(), store_inverse);
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.det", determinant, 2}, {"tilewright.inverse", inverse, 2}};

}  // namespace

std::span<const Entry> determinant_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
