// numpy's file format for one array.
// Source: numpy.org/doc/stable/reference/generated/numpy.lib.format.html (versions 1.0 to 3.0).
#pragma once
#include <string>
#include <string_view>

#include "tilewright/runtime/tensor.h"

namespace tilewright::cli {

/// The array in `bytes`, which are not trusted: any element order and byte order is converted to compact
/// row-major order and this machine's byte order.  `name` is its name in messages.  Raises UserError if
/// `bytes` are not a numpy array or truncated, Unsupported for elements other than bool, integers and floats.
runtime::Tensor read_npy(std::string_view bytes, const std::string& name);

/// `tensor` in version 1.0, row-major.  Raises Unsupported for dtypes that numpy does not have (bfloat16).
std::string write_npy(const runtime::Tensor& tensor, const std::string& name);

}  // namespace tilewright::cli
