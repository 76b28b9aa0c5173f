// numpy's file format for one array.
// Source: numpy.org/doc/stable/reference/generated/numpy.lib.format.html (versions 1.0 to 3.0).
#pragma once
#include <string>
#include <string_view>

#include "tilewright/runtime/tensor.h"

namespace tilewright::cli {

/// The array in `bytes`, which are not trusted: any element order and byte order becomes compact, row-major
/// and this machine's.  `name` is what messages call it. Raises UserError if `bytes` is no array of numpy or
/// cut short, Unsupported for elements that are neither bool, integer nor float.
runtime::Tensor read_npy(std::string_view bytes, const std::string& name);

/// `tensor` in version 1.0, row-major.  Raises Unsupported for elements that numpy does not have (bfloat16).
std::string write_npy(const runtime::Tensor& tensor, const std::string& name);

}  // namespace tilewright::cli
