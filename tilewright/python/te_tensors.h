// Tensors of tensor expressions that Python hands over.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::python {

/// The tensor that `node` is.  Raises UserError if it is none.
te::Tensor tensor_of(const ir::ObjectRef& node);

}  // namespace tilewright::python
