// Small tensors whose elements are known at import time, as constants or as expressions of symbolic
// dimensions: shapes are computed from them.
#pragma once
#include <optional>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::frontend::onnx {

class Importer;

/// value / divisor, where value is an int64 expression, or a bool expression for a bool tensor.  Only floats
/// have divisors other than 1, and are known only as long as float32 represents them exactly while extents
/// are below 2^16.
struct Element {
  ir::PrimExpr value;
  int64_t divisor = 1;
  bool is_number() const { return is<ir::IntImmNode>(value); }
};

struct Known {
  DataType dtype = kInt64;
  std::vector<int64_t> shape;
  std::vector<Element> elements;  // in row-major order
  const Node* maker = nullptr;    // null: a constant
};

/// Tensors with more elements are not treated as shapes.
inline constexpr int64_t kMostKnown = 1024;

/// The elements of a constant tensor of integers, bools or floats, at most kMostKnown; nullopt if a float is
/// not a quotient of small integers.
std::optional<Known> known_of(const runtime::Tensor& data);
/// The tensor if all elements are constants; undefined if some are not, or the dtype cannot occur in shapes.
runtime::Tensor tensor_of(const Known& known);
/// a / b rounded towards zero; nullopt if that depends on unknown signs.
std::optional<ir::PrimExpr> truncated_quotient(arith::Analyzer& facts, const ir::PrimExpr& a,
                                               const ir::PrimExpr& b);
/// Computes `node` from known inputs, some of which are expressions, by a table of rules.  Returns false if
/// an input is not known, or there is no rule: it is then computed at run time.
bool compute_known(Importer& importer, const Node& node);

}  // namespace tilewright::frontend::onnx
