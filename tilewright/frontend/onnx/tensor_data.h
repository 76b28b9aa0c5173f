// Elements of an ONNX TensorProto, from any of the places it may keep them.
#pragma once
#include <string>

#include "tilewright/runtime/tensor.h"

namespace tilewright::frontend::onnx {

namespace wire {
struct Tensor;
}

/// The tensor that `proto` describes.  `folder`: where external data lies; `name` is for messages.
/// Raises UserError when data and shape disagree or external data is missing or outside `folder`.
runtime::Tensor read_tensor(const wire::Tensor& proto, const std::string& folder, const std::string& name);

}  // namespace tilewright::frontend::onnx
