// Products of bytes accumulated in int32: matmul and convolutions with an int8 weight.
#pragma once
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {
inline const DataType kInt8 = DataType::int_(8), kUint8 = DataType::uint(8);

/// The dimensions of a product's outputs, and what it sums.
struct Product {
  size_t ndim = 0, channel = 0;  // of the result
  size_t weight_axis = 0;        // the dimension of the weight's outputs
  std::vector<int64_t> weight_shape;
  int64_t num_outputs() const { return weight_shape[weight_axis]; }
  int64_t num_terms() const;
};

/// The product that `call` computes; nullopt if it is no convolution and no matmul with one matrix, or if
/// extents of its weight or the number of dimensions of its result are unknown.
std::optional<Product> product_of(const CallNode* call);

/// Bytes that represent the values (bytes - zero).
struct Bytes {
  Expr values;
  DataType dtype;  // int8 or uint8
  int64_t zero = 0;
};

/// The number added to the zero point when the same values are stored as `to`.
int64_t zero_offset(DataType from, DataType to);

/// The int32 sums of (x - zero) * weight that `call` computes of its arguments; `x` is multiplied as
/// `activations`.  Padding of the call counts as `zero`, so that it adds nothing to the sums.
Expr integer_sums(const CallNode* call, const Product& product, Bytes x, Expr weight, DataType activations);

/// The int32 sums of (x - zero) over what each result of `call` reads, in a shape that broadcasts to the result.
Expr window_sums(const CallNode* call, Product product, const Bytes& x, DataType activations);

/// A constant vector of int32.
Constant make_integers(const std::vector<double>& values);

}  // namespace tilewright::relax
