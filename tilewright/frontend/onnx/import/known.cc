#include "tilewright/frontend/onnx/import/known.h"

#include <cmath>

#include "tilewright/tir/builder.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr DataType kFloat64 = DataType::float_(64);

// `number` as a quotient of integers whose products with extents are exact
std::optional<Element> exact_quotient(double number) {
  constexpr int64_t kMostDivisorOfConstant = 256;
  constexpr double kMostNumerator = 1 << 20;
  for (int64_t divisor = 1; divisor <= kMostDivisorOfConstant; divisor *= 2) {
    const double numerator = number * static_cast<double>(divisor);
    if (std::abs(numerator) > kMostNumerator || std::isnan(numerator)) break;
    if (numerator == std::trunc(numerator))
      return Element{relax::extent_imm(static_cast<int64_t>(numerator)), divisor};
  }
  return std::nullopt;
}

template <class T>
void add_integers(const runtime::Tensor& data, Known* known) {
  for (int64_t n = 0; n < data.num_elements(); ++n)
    known->elements.push_back({relax::extent_imm(static_cast<int64_t>(data.data_as<T>()[n]))});
}

template <class T>
bool add_floats(const runtime::Tensor& data, Known* known) {
  for (int64_t n = 0; n < data.num_elements(); ++n) {
    const std::optional<Element> element = exact_quotient(static_cast<double>(data.data_as<T>()[n]));
    if (!element) return false;
    known->elements.push_back(*element);
  }
  return true;
}

template <class T, class Convert>
runtime::Tensor filled(const Known& known, const Convert& convert) {
  const runtime::Tensor tensor = runtime::Tensor::empty(known.shape, known.dtype);
  for (size_t n = 0; n < known.elements.size(); ++n)
    tensor.data_as<T>()[n] = static_cast<T>(
        convert(known.elements[n].value.as<ir::IntImmNode>()->value, known.elements[n].divisor));
  return tensor;
}

}  // namespace

std::optional<Known> known_of(const runtime::Tensor& given) {
  if (given.num_elements() > kMostKnown) return std::nullopt;
  const runtime::Tensor data = given.compact();
  Known known{data.dtype(), {data.shape().begin(), data.shape().end()}, {}, nullptr};
  if (data.dtype() == kInt64)
    add_integers<int64_t>(data, &known);
  else if (data.dtype() == kInt32)
    add_integers<int32_t>(data, &known);
  else if (data.dtype() == kBoolType)
    for (int64_t n = 0; n < data.num_elements(); ++n)
      known.elements.push_back({tir::bool_imm(data.data_as<uint8_t>()[n] != 0)});
  else if (data.dtype() == kFloat32 ? !add_floats<float>(data, &known)
                                    : data.dtype() != kFloat64 || !add_floats<double>(data, &known))
    return std::nullopt;
  return known;
}

runtime::Tensor tensor_of(const Known& known) {
  for (const Element& element : known.elements) {
    if (!element.is_number()) return {};
  }
  const auto whole = [](int64_t number, int64_t) { return number; };
  const auto quotient = [](int64_t number, int64_t divisor) {
    return static_cast<double>(number) / static_cast<double>(divisor);
  };
  if (known.dtype == kInt64) return filled<int64_t>(known, whole);
  if (known.dtype == kInt32) return filled<int32_t>(known, whole);
  if (known.dtype == kBoolType) return filled<uint8_t>(known, whole);
  if (known.dtype == kFloat32) return filled<float>(known, quotient);
  if (known.dtype == kFloat64) return filled<double>(known, quotient);
  return {};
}

std::optional<ir::PrimExpr> truncated_quotient(arith::Analyzer& facts, const ir::PrimExpr& a,
                                               const ir::PrimExpr& b) {
  const ir::PrimExpr zero = relax::extent_imm(0);
  int64_t x, y;
  if (tir::as_const_int(a, &x) && tir::as_const_int(b, &y) && y != 0 && y != -1)
    return relax::extent_imm(x / y);
  if (!facts.can_prove(tir::operator<=(zero, b)) || tir::is_zero(b)) return std::nullopt;
  const ir::PrimExpr down = tir::floordiv(a, b);
  if (facts.can_prove(tir::operator<=(zero, a))) return down;
  return tir::select(tir::operator<(a, zero), tir::operator-(tir::floordiv(tir::operator-(a), b)), down);
}

}  // namespace tilewright::frontend::onnx
