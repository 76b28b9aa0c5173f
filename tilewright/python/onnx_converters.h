// Converters of ONNX operators that are Python functions.
#pragma once
#include <nanobind/nanobind.h>

#include "tilewright/frontend/onnx/import/import.h"

namespace tilewright::python {

/// `converters`: {"my.domain::Op": function of (builder, the node's name in messages, attributes, inputs) that returns
/// a list of graph values}.  Attributes that are graphs are left out; inputs that are left out are None.
frontend::onnx::CustomConverters custom_converters(const nanobind::dict& converters);

}  // namespace tilewright::python
