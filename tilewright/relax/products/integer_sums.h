// Products of bytes, summed in int32: matmul and convolutions with a weight of int8.
#pragma once
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {
inline const DataType kInt8 = DataType::int_(8), kUint8 = DataType::uint(8);

/// Where a product has its weight's outputs, and what it sums.
struct Product {
  size_t ndim = 0, channel = 0;  // of the result
  size_t weight_axis = 0;        // of the weight: outputs
  std::vector<int64_t> weight_shape;
  int64_t num_outputs() const { return weight_shape[weight_axis]; }
  int64_t num_terms() const;
};

/// What `call` multiplies and sums; nothing if it is no convolution and no matmul by one matrix, or extents
/// of its weight or the number of dimensions of its result are not known.
std::optional<Product> product_of(const CallNode* call);

/// Numbers that stand for values - zero.
struct Bytes {
  Expr values;
  DataType dtype;  // int8 or uint8
  int64_t zero = 0;
};

/// What the zero point of the same numbers is more if they are kept as `to`.
int64_t zero_offset(DataType from, DataType to);

/// The sums, in int32, of (x - zero) * weight that `call` makes of its arguments; `x` is multiplied as
/// `activations`.  The call's own padding is `zero`, of which a convolution sees nothing.
Expr integer_sums(const CallNode* call, const Product& product, Bytes x, Expr weight, DataType activations);

}  // namespace tilewright::relax
