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
};

/// The arrays in `bytes`, the content of a file that messages call `name`, in the order of the file.  Nothing
/// in it is trusted.  Raises UserError if it is neither a .npz nor a .npy file or is damaged, Unsupported for
/// encrypted archives, compression other than deflate and elements that are no numbers.
std::vector<NamedTensor> read_arrays(std::string_view bytes, const std::string& name);

/// A .npz file with `arrays`, not compressed.  Raises Unsupported above 4 GiB.
std::string write_npz(const std::vector<NamedTensor>& arrays);

}  // namespace tilewright::cli
