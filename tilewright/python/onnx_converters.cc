#include "tilewright/python/onnx_converters.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/values.h"

namespace tilewright::python {
namespace {

using frontend::onnx::Attribute;
using frontend::onnx::Importer;
using frontend::onnx::Node;

// Bytes if `text` is not UTF-8.
nb::object text_to_python(const std::string& text) {
  const nb::bytes bytes(text.data(), text.size());
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict");
  if (decoded) return nb::steal(decoded);
  PyErr_Clear();
  return bytes;
}

template <class Items, class Convert>
nb::list list_of(const Items& items, Convert convert) {
  nb::list result;
  for (const auto& item : items) result.append(convert(item));
  return result;
}

nb::dict attributes_of(const Node& node) {
  nb::dict result;
  for (const Attribute& attribute : node.attributes) {
    const char* name = attribute.name.c_str();
    switch (attribute.kind) {
      case Attribute::kFloat: result[name] = attribute.number; break;
      case Attribute::kInt: result[name] = attribute.integer; break;
      case Attribute::kString: result[name] = text_to_python(attribute.text); break;
      case Attribute::kTensor: result[name] = value_to_python(attribute.tensor); break;
      case Attribute::kFloats:
        result[name] = list_of(attribute.numbers, [](double item) { return item; });
        break;
      case Attribute::kInts:
        result[name] = list_of(attribute.integers, [](int64_t item) { return item; });
        break;
      case Attribute::kStrings: result[name] = list_of(attribute.texts, text_to_python); break;
      default: break;
    }
  }
  return result;
}

std::vector<ir::Expr> call(const nb::object& function, Importer& importer, const Node& node) {
  nb::list inputs;
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    const ir::Expr value = importer.value(node, n);
    inputs.append(value ? to_python(value) : nb::none());
  }
  const nb::object builder = nb::cast(&importer.builder, nb::rv_policy::reference);
  return nb::cast<std::vector<ir::Expr>>(function(builder, node.shown(), attributes_of(node), inputs));
}

}  // namespace

frontend::onnx::CustomConverters custom_converters(const nb::dict& converters) {
  frontend::onnx::CustomConverters result;
  for (const auto& [name, function] : converters) {
    result[nb::cast<std::string>(name)] = [function = nb::borrow(function)](Importer& importer,
                                                                            const Node& node) {
      return locked([&] { return call(function, importer, node); });
    };
  }
  return result;
}

}  // namespace tilewright::python
