// The types of the fields of nodes as text, for the stubs of the Python package (tools/stubs.py).
#pragma once
#include <nanobind/nanobind.h>

namespace tilewright::python {

/// {kind name: [(type, kinds) of each field]}: the type is "int", "list[str]", "Literal['serial', ...]", or "node" or
/// "list[node]" of one of the kinds.
nanobind::dict field_types();

}  // namespace tilewright::python
