// Conversion of tensors and spans to and from Python.
#pragma once
#include <nanobind/nanobind.h>

#include "tilewright/runtime/tensor.h"
#include "tilewright/support/span.h"

namespace tilewright::python {
namespace nb = nanobind;

void register_node_class(const std::string& kind_name, nb::object node_class);
nb::object span_to_python(const Span& span);

/// The device that a Device, its name, or None, which is the CPU, means.
runtime::Device device_of(nb::handle device);
/// A Python Tensor that shares the data.
nb::object tensor_to_python(const runtime::Tensor& tensor);
/// True if `value` is a numpy array, a torch tensor or anything else that has __dlpack__.
bool lends_elements(nb::handle value);
/// tensor_from_python for a value for which lends_elements is true.
runtime::Tensor tensor_of_lender(nb::handle value);
/// A Tensor over the data of a tilewright Tensor, a numpy array, a torch tensor or any object with
/// __dlpack__, without a copy; Python numbers and lists are copied through numpy.  Raises UserError for other
/// values.
runtime::Tensor tensor_from_python(nb::handle value);

}  // namespace tilewright::python
