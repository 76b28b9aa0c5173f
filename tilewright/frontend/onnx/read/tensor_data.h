// Reads the elements of an ONNX TensorProto from any of the fields that may hold them.
#pragma once
#include <string>
#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright::frontend::onnx {

namespace wire {
struct Tensor;
}

/// The tensor of `proto`.  `folder`: the folder of external data; `name` is for messages.  Raises UserError
/// if data and shape disagree, or external data is missing or outside of `folder`.
/// A tensor of strings becomes one of int64, all 0, and `texts` gets its elements.
runtime::Tensor read_tensor(const wire::Tensor& proto, const std::string& folder, const std::string& name,
                            std::vector<std::string>* texts);
/// True for a tensor of strings.
bool is_text(const wire::Tensor& proto);

}  // namespace tilewright::frontend::onnx
