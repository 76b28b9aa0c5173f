// Named arrays in files: numpy's .npz (a zip archive of .npy files) and single .npy files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright::cli {

struct NamedTensor {
  std::string name;  // "" for the array of a .npy file
  runtime::Tensor tensor;
  runtime::Tensor text =
      {};  // of strings: their bytes; `tensor` has the number of bytes up to the end of each
};

/// The arrays in `bytes`, the contents of a file that messages call `name`, in the order of the file.  The
/// bytes are not trusted.  Raises UserError if the file is damaged or neither .npz nor .npy, Unsupported for
/// encrypted archives, compression other than deflate and elements that are not numbers.
std::vector<NamedTensor> read_arrays(std::string_view bytes, const std::string& name);

/// An uncompressed .npz file with `arrays`.  Raises Unsupported above 4 GiB.
std::string write_npz(const std::vector<NamedTensor>& arrays);

}  // namespace tilewright::cli
