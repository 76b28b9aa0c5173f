// Types of graph values and constants.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tilewright/script/printer/writer.h"
#include "tilewright/tir/builder.h"

namespace tilewright::script {
using namespace relax;
namespace {

class TypeWriter {
 public:
  TypeWriter(Writer* writer, bool quotes_dims) : w_(*writer), quotes_dims_(quotes_dims) {}

  void type(const Type& type) {
    if (const auto* tensor = type.as<TensorTypeNode>()) return this->tensor(tensor);
    if (const auto* shape = type.as<ShapeTypeNode>()) return this->shape(shape);
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      w_.out += w_.relax_prefix() + "Tuple";
      if (tuple->elements.empty()) return;
      w_.out += '(';
      types(tuple->elements);
      w_.out += ')';
    } else if (const auto* function = type.as<CallableTypeNode>()) {
      callable(function);
    } else if (const auto* prim = type.as<PrimTypeNode>()) {
      this->prim(prim);
    } else if (type.as<ObjectTypeNode>()) {
      w_.out += w_.relax_prefix() + "Object";
    } else if (const auto* pointer = type.as<PointerTypeNode>()) {
      const auto* element = pointer->element_type.as<PrimTypeNode>();
      w_.out += fmt::format("{}handle({}, {})", w_.tir_prefix(),
                            tir::quoted(element ? element->dtype.str() : "void"),
                            tir::quoted(pointer->storage_scope));
    } else {
      w_.out += "None";
    }
  }

 private:
  void types(const std::vector<Type>& list) {
    for (size_t n = 0; n < list.size(); ++n) {
      if (n) w_.out += ", ";
      type(list[n]);
    }
  }

  // Prints a dimension; where its variables are not declared yet, names are allowed only in strings.
  void extent(const tir::PrimExpr& value) {
    if (!quotes_dims_ || is<IntImmNode>(value) || is<FloatImmNode>(value)) return w_.expr(value);
    const size_t begin = w_.out.size();
    w_.expr(value);
    const std::string text = w_.out.substr(begin);
    w_.out.resize(begin);
    w_.out += tir::quoted(text);  // T.Cast("int64", n) contains quotes itself
  }
  void extents(const std::vector<tir::PrimExpr>& values) {
    const DataType bare = std::exchange(w_.bare_int, kInt64);
    for (size_t n = 0; n < values.size(); ++n) {
      if (n) w_.out += ", ";
      extent(values[n]);
    }
    w_.bare_int = bare;
  }

  void tensor(const TensorTypeNode* tensor) {
    if (w_.is_2022()) return tensor_of_2022(tensor);
    w_.out += w_.relax_prefix() + "Tensor";
    std::vector<std::string> rest;
    const size_t begin = w_.out.size();
    if (const auto* shape = tensor->shape.as<ShapeExprNode>()) {
      w_.out += '(';
      extents(shape->values);
      w_.out += shape->values.size() == 1 ? ",)" : ")";
    } else if (tensor->shape) {
      w_.out += w_.name_of(tensor->shape.get());
    }
    if (!tensor->dtype.is_void()) rest.push_back("dtype=" + tir::quoted(tensor->dtype.str()));
    if (!tensor->device.empty()) rest.push_back("vdevice=" + tir::quoted(tensor->device));
    if (!tensor->shape && tensor->ndim >= 0) rest.push_back(fmt::format("ndim={}", tensor->ndim));
    const bool has_shape = w_.out.size() > begin;
    if (!has_shape && rest.empty()) return;
    w_.out.insert(begin, "(");
    w_.out += fmt::format("{}{})", has_shape && !rest.empty() ? ", " : "", fmt::join(rest, ", "));
  }

  // Tensor((1, 784), "float32"), Tensor(None, "float32", ndim = 2)
  void tensor_of_2022(const TensorTypeNode* tensor) {
    w_.out += "Tensor(";
    if (const auto* shape = tensor->shape.as<ShapeExprNode>()) {
      w_.out += '(';
      extents(shape->values);
      w_.out += shape->values.size() == 1 ? ",)" : ")";
    } else {
      w_.out += "None";
    }
    if (!tensor->dtype.is_void()) w_.out += ", " + tir::quoted(tensor->dtype.str());
    if (!tensor->shape && tensor->ndim >= 0) w_.out += fmt::format(", ndim = {}", tensor->ndim);
    w_.out += ')';
  }

  void shape(const ShapeTypeNode* shape) {
    w_.out += w_.relax_prefix() + "Shape";
    if (!shape->is_known) {
      if (shape->ndim >= 0) w_.out += fmt::format("(ndim={})", shape->ndim);
      return;
    }
    w_.out += "([";
    extents(shape->values);
    w_.out += "])";
  }

  void prim(const PrimTypeNode* prim) {
    w_.out += w_.relax_prefix() + "Prim(";
    if (!prim->value || prim->value->dtype != prim->dtype) {
      w_.out += tir::quoted(prim->dtype.str());
      if (prim->value) w_.out += ", ";
    }
    if (prim->value) {
      w_.out += "value=";
      extents({prim->value});
    }
    w_.out += ')';
  }

  void callable(const CallableTypeNode* function) {
    w_.out += w_.relax_prefix() + "Callable";
    if (function->is_opaque) {
      const bool is_object = !function->ret || function->ret.as<ObjectTypeNode>();
      if (is_object && !function->is_pure) return;
      w_.out += "(ret=";
      type(function->ret);
      w_.out += fmt::format(", purity={})", function->is_pure ? "True" : "False");
      return;
    }
    w_.out += "((";
    types(function->params);
    w_.out += function->params.size() == 1 ? ",), " : "), ";
    type(function->ret);
    w_.out += function->is_pure ? ", True)" : ", False)";
  }

  Writer& w_;
  const bool quotes_dims_;
};

// ---- constants

double half_to_double(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value;
  if (exponent == (1 << exponent_bits) - 1)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return bits >> 15 ? -value : value;
}

template <class T>
T element_at(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// One element as a Python number; empty if no number would read back as the same value.
std::string element_text(const char* at, DataType dtype) {
  if (dtype.is_bool()) return *at ? "True" : "False";
  if (dtype.is_int() || dtype.is_uint()) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, static_cast<size_t>(dtype.num_bytes()));
    if (dtype.is_uint()) return fmt::format("{}", bits);
    const int shift = 64 - dtype.bits;
    return fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
  }
  double value;
  if (dtype == kFloat32)
    value = element_at<float>(at);
  else if (dtype == DataType::float_(64))
    value = element_at<double>(at);
  else if (dtype == DataType::float_(16))
    value = half_to_double(element_at<uint16_t>(at), 5, 10);
  else if (dtype == DataType::bfloat16())
    value = half_to_double(element_at<uint16_t>(at), 8, 7);
  else
    return "";
  if (!std::isfinite(value)) return "";
  const std::string text = tir::float_text(value, dtype);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// [[1.0, 2.0], [3.0, 4.0]]; false if an element has no text.
bool list_text(const runtime::Tensor& data, size_t dim, const char** at, std::string* out) {
  if (dim == data.shape().size()) {
    const std::string text = element_text(*at, data.dtype());
    *at += data.dtype().num_bytes();
    *out += text;
    return !text.empty();
  }
  *out += '[';
  for (int64_t n = 0; n < data.shape()[dim]; ++n) {
    if (n) *out += ", ";
    if (!list_text(data, dim + 1, at, out)) return false;
  }
  *out += ']';
  return true;
}

}  // namespace

void Writer::type(const Type& type, bool quotes_dims) { TypeWriter(this, quotes_dims).type(type); }

void Writer::constant(const ConstantNode* constant) {
  constexpr int64_t kMaxElements = 16;
  if (is_2022()) return in_metadata("relay.Constant", ObjectRef(constant));
  const runtime::Tensor data = constant->data.compact();
  const bool is_scalar = data.ndim() == 0;
  const int64_t size = data.num_elements();
  const bool is_short = is_scalar || (dialect == Dialect::kNative && size > 0 && size <= kMaxElements);
  std::string text;
  const char* at = data.data_as<char>();
  if (is_short && data.dtype().is_scalar() && data.dtype().bits % 8 == 0 && list_text(data, 0, &at, &text)) {
    out += fmt::format("{}const({}, {})", relax_prefix_, text, tir::quoted(data.dtype().str()));
    return;
  }
  in_metadata("relax.expr.Constant", ObjectRef(constant));
}

}  // namespace tilewright::script
