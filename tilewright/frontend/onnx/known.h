// Small tensors whose elements are known when a model is imported, as numbers or as expressions of its open
// dimensions: what shapes are computed from.
#pragma once
#include <optional>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/model.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::frontend::onnx {

class Importer;

/// value / divisor: an int64 expression, or of a bool tensor a bool one.  Only floats have divisors other
/// than 1, and are known only as long as float32 holds them exactly while extents are below 2^16.
struct Element {
  ir::PrimExpr value;
  int64_t divisor = 1;
  bool is_number() const { return is<ir::IntImmNode>(value); }
};

struct Known {
  DataType dtype = kInt64;
  std::vector<int64_t> shape;
  std::vector<Element> elements;  // row by row
  const Node* maker = nullptr;    // null: a constant
};

/// More elements than these are no shape.
inline constexpr int64_t kMostKnown = 1024;

/// The elements of a constant tensor of integers, bools or floats, at most kMostKnown; nothing if a float is
/// no quotient of small integers.
std::optional<Known> known_of(const runtime::Tensor& data);
/// The tensor of elements that are numbers; an undefined one if some are not, or of dtypes that no shape has.
runtime::Tensor tensor_of(const Known& known);
/// a / b rounded towards zero; nothing if that depends on signs that nobody knows.
std::optional<ir::PrimExpr> truncated_quotient(arith::Analyzer& facts, const ir::PrimExpr& a,
                                               const ir::PrimExpr& b);
/// Computes `node` from inputs that are known, among them expressions, by a table of rules.  False if an
/// input is not known, or there is no rule for that: then it is computed when the model runs.
bool compute_known(Importer& importer, const Node& node);

}  // namespace tilewright::frontend::onnx
