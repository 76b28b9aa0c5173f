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
/// Of an array of strings the result has for each the number of bytes up to its end (int64), and *text, if it is given,
/// the bytes, in UTF-8; without `text` they are Unsupported.
runtime::Tensor read_npy(std::string_view bytes, const std::string& name, runtime::Tensor* text = nullptr);

/// `tensor` in version 1.0, row-major.  Raises Unsupported for dtypes that numpy does not have (bfloat16).
std::string write_npy(const runtime::Tensor& tensor, const std::string& name);
/// The same of an array of strings: `ends` has the number of bytes up to the end of each in `text`, which is UTF-8.
std::string write_npy_strings(const runtime::Tensor& ends, const runtime::Tensor& text);

}  // namespace tilewright::cli
