// Short forms of the graph operators that converters of composed operators are made of.
#pragma once
#include <optional>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// Binds graph operators for one node.  Operands are tensors; none of them may be null.
class NodeMath {
 public:
  NodeMath(Importer& importer, const Node& node) : importer_(importer), node_(node) {}

  Importer& importer() const { return importer_; }
  const Node& node() const { return node_; }
  Expr call(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) const {
    return importer_.bind(node_, op, std::move(args), std::move(attrs));
  }

  // ---- element by element
  Expr add(const Expr& a, const Expr& b) const { return call("relax.add", {a, b}); }
  Expr subtract(const Expr& a, const Expr& b) const { return call("relax.subtract", {a, b}); }
  Expr multiply(const Expr& a, const Expr& b) const { return call("relax.multiply", {a, b}); }
  Expr divide(const Expr& a, const Expr& b) const { return call("relax.divide", {a, b}); }
  Expr both(const Expr& a, const Expr& b) const { return call("relax.logical_and", {a, b}); }
  Expr where(const Expr& condition, const Expr& a, const Expr& b) const {
    return call("relax.where", {condition, a, b});
  }
  /// `x` times the number `factor`; `x` itself if that is 1.
  Expr scaled(const Expr& x, double factor) const;
  /// `x`, or its last dimension, plus `bias`, which may be null.
  Expr plus(const Expr& x, const Expr& bias) const { return bias ? add(x, bias) : x; }
  Expr cast(const Expr& x, DataType dtype) const { return bound_as(importer_, x, dtype); }
  /// The number in the dtype of `like`.
  Expr number_like(const Expr& like, double value) const { return number(value, relax::dtype_of(like)); }
  /// The extent as a scalar of int64.
  Expr extent(const ir::PrimExpr& value) const;
  /// 0, 1, .. count - 1 as int64.
  Expr counted(const ir::PrimExpr& count) const;

  // ---- moves of elements; axes count from the end if negative
  const relax::Shape& shape(const Expr& x) const { return shape_of(node_, x); }
  Expr reshaped(const Expr& x, const relax::Shape& shape) const {
    return importer_.reshaped(node_, x, shape);
  }
  Expr permuted(const Expr& x, const std::vector<int64_t>& axes) const {
    return call("relax.permute_dims", {x}, {{"axes", attr(axes)}});
  }
  /// The last two dimensions in the other order.
  Expr transposed(const Expr& x) const;
  Expr with_axes(const Expr& x, const std::vector<int64_t>& axes) const {
    return call("relax.expand_dims", {x}, {{"axis", attr(axes)}});
  }
  Expr broadcast(const Expr& x, const relax::Shape& shape) const {
    return call("relax.broadcast_to", {x, relax::shape_expr(shape)});
  }
  Expr concat(const std::vector<Expr>& parts, int64_t axis) const;
  /// Elements begin, begin + step, .. before end of a dimension; `x` itself if these are all.
  Expr sliced(const Expr& x, int64_t axis, const ir::PrimExpr& begin, const ir::PrimExpr& end,
              int64_t step = 1) const;
  /// The first `count` elements of a dimension.
  Expr first(const Expr& x, int64_t axis, const ir::PrimExpr& count) const {
    return sliced(x, axis, relax::extent_imm(0), count);
  }

  // ---- sums
  Expr matmul(const Expr& a, const Expr& b, DataType dtype) const {
    return call("relax.matmul", {a, b}, {{"out_dtype", attr(dtype.str())}});
  }
  Expr reduced(std::string_view op, const Expr& x, const std::vector<int64_t>& axes) const {
    return call(op, {x}, {{"axis", attr(axes)}, {"keepdims", attr(true)}});
  }

  // ---- other operators
  /// The results of the operator `op` of ai.onnx in its newest form on `inputs`, of which null ones are left out.
  std::vector<Expr> as_operator(std::string_view op, const std::vector<Expr>& inputs,
                                std::vector<Attribute> attributes = {}, size_t num_outputs = 1) const;

  // ---- inputs and outputs
  Expr input(size_t n) const { return importer_.value(node_, n); }
  /// The same; raises UserError if it is left out.
  Expr required(size_t n, std::string_view name) const;
  bool wants(size_t n) const { return node_.outputs.size() > n && !node_.outputs[n].empty(); }
  /// Defines output `n`, if something may read it.
  void result(size_t n, const Expr& value) const {
    if (wants(n)) importer_.define(node_.outputs[n], value);
  }
  /// Requires two extents to be equal.
  template <class... Args>
  void require_equal(const ir::PrimExpr& a, const ir::PrimExpr& b, relax::RequirementText<Args...> text,
                     const Args&... args) const {
    importer_.require(node_, relax::is_same_shape({a}, {b}), text, args...);
  }
  /// Raises UserError unless `x` has `ndim` dimensions; `name` is that of the input.
  void require_ndim(const Expr& x, size_t ndim, std::string_view name) const;

 private:
  Importer& importer_;
  const Node& node_;
};

/// Attributes of nodes that as_operator makes.
Attribute int_attribute(std::string name, int64_t value);
Attribute ints_attribute(std::string name, std::vector<int64_t> values);
Attribute text_attribute(std::string name, std::string value);

/// The integer that `value` is; nullopt if it is known only at run time.
std::optional<int64_t> constant_extent(const ir::PrimExpr& value);
/// `value` in parts of `size`, which the caller requires to divide it.
ir::PrimExpr quotient(Importer& importer, const ir::PrimExpr& value, const ir::PrimExpr& size);

}  // namespace tilewright::frontend::onnx
