// The windows of a pool: which elements of data each result takes, and how many of them count.
#pragma once
#include "tilewright/te/topi/pool.h"

namespace tilewright::topi {

/// A position in a window: its element, and the number of elements of the window that count.
struct Window {
  std::vector<PrimExpr> indices;
  PrimExpr inside;  // the element at `indices` is in data
  PrimExpr count;   // elements of the window in data (or in the padded data)
};

/// The windows of `options` over `data`, both of which outlive it.
class Pooling {
 public:
  Pooling(const Tensor& data, const PoolOptions& options);
  const Tensor& data() const { return data_; }
  const PoolOptions& options() const { return options_; }
  const Shape& shape() const { return shape_; }
  const std::vector<size_t>& spatial() const { return spatial_; }
  const std::vector<te::IterVar>& reduced() const { return reduced_; }

  /// The position that `reduced` has in the window of result `i`.
  Window window(const std::vector<te::Var>& i) const;
  /// The position `offsets` of the window of result `i`.
  Window window(const std::vector<PrimExpr>& i, const std::vector<PrimExpr>& offsets) const;
  /// Where a window of result `i` begins along spatial dimension `n`: before 0 in the padding.
  PrimExpr start(size_t n, const PrimExpr& i) const;
  /// True if `index`, which some window has along spatial dimension `n`, is in data.
  PrimExpr inside(size_t n, const PrimExpr& index) const;

  /// The sum, over all windows that contain an element of data, of `term(index of the window's result,
  /// offsets of the element in the window)`, in dtype_of_sums.
  using Term = std::function<PrimExpr(const std::vector<PrimExpr>&, const std::vector<PrimExpr>&)>;
  Tensor over_windows(const Term& term, std::string name) const;

 private:
  bool reaches_beyond(size_t n) const;
  PrimExpr count_along(size_t n, const PrimExpr& start, const PrimExpr& extent) const;

  const Tensor& data_;
  const PoolOptions& options_;
  std::vector<size_t> spatial_;
  Shape shape_;
  std::vector<te::IterVar> reduced_;
};

/// `element` where `inside` holds, else `otherwise`.
PrimExpr guarded(const PrimExpr& inside, const PrimExpr& element, const PrimExpr& otherwise);
/// The term of a sum for `element`, in dtype_of_sums: 0 outside of data.
PrimExpr guarded_term(const PrimExpr& inside, const PrimExpr& element);
/// The term of a maximum for `element`, in dtype_of_sums: the least value of its dtype outside of data.  Few
/// machines compare float16, and float32 has all its values.
PrimExpr guarded_candidate(const PrimExpr& inside, const PrimExpr& element);

}  // namespace tilewright::topi
