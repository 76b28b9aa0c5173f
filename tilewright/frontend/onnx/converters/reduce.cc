// Reductions over dimensions.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <numeric>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

// The axes of a reduction: an attribute, since opset 13 or 18 an input; all axes if none are given.
std::vector<int64_t> axes_of(Importer& importer, const Node& node, size_t ndim) {
  std::vector<int64_t> axes = ints_attr(node, "axes", {});
  if (node.inputs.size() > 1 && !node.inputs[1].empty()) axes = importer.require_ints(node, 1);
  if (axes.empty() && !int_attr(node, "noop_with_empty_axes", 0)) {
    axes.resize(ndim);
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  return axes;
}

/// A reduction of input x over `axes`.
struct Reduction {
  Importer& importer;
  const Node& node;
  Expr x = importer.value(node, 0);
  std::vector<int64_t> axes = axes_of(importer, node, shape_of(node, x).size());
  bool keepdims = int_attr(node, "keepdims", 1) != 0;

  Expr call(std::string_view op, std::vector<Expr> args) const {
    return importer.bind(node, op, std::move(args));
  }
  Expr reduced(std::string_view op, const Expr& value, bool keeps) const {
    if (axes.empty()) return value;
    return importer.bind(node, op, {value}, {{"axis", attr(axes)}, {"keepdims", attr(keeps)}});
  }
  Expr reduced(std::string_view op, const Expr& value) const { return reduced(op, value, keepdims); }
  void result(const Expr& value) const { importer.define(node.outputs.at(0), value); }
};

template <const char* kOp>
void plain(Importer& importer, const Node& node) {
  const Reduction r{importer, node};
  r.result(r.reduced(kOp, r.x));
}
constexpr char kSum[] = "relax.sum", kMax[] = "relax.max", kMin[] = "relax.min", kProd[] = "relax.prod";

// The mean of integers is rounded towards zero.
void mean(Importer& importer, const Node& node) {
  const Reduction r{importer, node};
  const DataType dtype = relax::dtype_of(r.x);
  if (dtype.is_float()) return r.result(r.reduced("relax.mean", r.x));
  const Expr real = importer.bound(converted(r.x, kFloat64));
  r.result(importer.bound(converted(r.reduced("relax.mean", real), dtype)));
}

// Reductions that consist of several operators are computed in the accumulation dtype up to the result.
template <Expr (*kOf)(const Reduction& r)>
void composed(Importer& importer, const Node& node) {
  Reduction r{importer, node};
  const DataType dtype = relax::dtype_of(r.x);
  r.x = widened(importer, r.x);
  r.result(bound_as(importer, kOf(r), dtype));
}

Expr l1(const Reduction& r) { return r.reduced("relax.sum", r.call("relax.abs", {r.x})); }

Expr square_sum(const Reduction& r) { return r.reduced("relax.sum", r.call("relax.multiply", {r.x, r.x})); }

// integers are computed as floats
Expr l2(const Reduction& r) {
  Expr sum = square_sum(r);
  if (!relax::dtype_of(r.x).is_float()) sum = r.importer.bound(converted(sum, kFloat64));
  return r.call("relax.sqrt", {sum});
}

Expr log_sum(const Reduction& r) { return r.call("relax.log", {r.reduced("relax.sum", r.x)}); }

// log(sum(exp(x - m))) + m with m the maximum, so that nothing overflows; m is 0 if it is infinite.
Expr log_sum_exp(const Reduction& r) {
  const Expr zero = r.importer.bound(number(0, relax::dtype_of(r.x)));
  const auto finite = [&](const Expr& value) {
    return r.call("relax.where", {r.call("relax.isfinite", {value}), value, zero});
  };
  const Expr shifted = r.call("relax.subtract", {r.x, finite(r.reduced("relax.max", r.x, true))});
  const Expr sum = r.reduced("relax.sum", r.call("relax.exp", {shifted}));
  return r.call("relax.add", {r.call("relax.log", {sum}), finite(r.reduced("relax.max", r.x))});
}

// The position of the first of equal elements; with select_last_index of the last, searched from the end.
template <const char* kOp>
void position(Importer& importer, const Node& node) {
  Expr x = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, x);
  const int64_t axis = checked_axis(int_attr(node, "axis", 0), shape.size());
  const bool last = int_attr(node, "select_last_index", 0) != 0;
  if (last) x = importer.bind(node, "relax.flip", {x}, {{"axis", attr(axis)}});
  const Expr found = importer.bind(
      node, kOp, {x}, {{"axis", attr(axis)}, {"keepdims", attr(int_attr(node, "keepdims", 1) != 0)}});
  if (!last) return importer.define(node.outputs.at(0), found);
  const ir::PrimExpr& extent = shape[static_cast<size_t>(axis)];
  const auto* constant = extent.as<ir::IntImmNode>();
  const Expr last_place =
      constant ? number(static_cast<double>(constant->value - 1), kInt64)
               : importer.reshaped(node,
                                   importer.bind(node, "relax.shape_to_tensor",
                                                 {relax::shape_expr({tir::operator-(extent, 1)})}),
                                   {});
  importer.emit(node, "relax.subtract", {last_place, found});
}
constexpr char kArgMax[] = "relax.argmax", kArgMin[] = "relax.argmin";

constexpr AttributeRule kPosition[] = {
    {"axis", Attribute::kInt}, flag("keepdims"), flag("select_last_index", 12)};
constexpr AttributeRule kReduceL1[] = {{"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 17},
                                       flag("keepdims"),
                                       flag("noop_with_empty_axes", 18)};
constexpr AttributeRule kReduceSum[] = {{"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, 12},
                                        flag("keepdims"),
                                        flag("noop_with_empty_axes", 13)};

constexpr ConverterRow kRows[] = {
    {"ArgMax", position<kArgMax>, 1, 1, kPosition},
    {"ArgMin", position<kArgMin>, 1, 1, kPosition},
    {"ReduceL1", composed<l1>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceL1", composed<l1>, 1, 2, kReduceL1, 1, 18},
    {"ReduceL2", composed<l2>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceL2", composed<l2>, 1, 2, kReduceL1, 1, 18},
    {"ReduceLogSum", composed<log_sum>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceLogSum", composed<log_sum>, 1, 2, kReduceL1, 1, 18},
    {"ReduceLogSumExp", composed<log_sum_exp>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceLogSumExp", composed<log_sum_exp>, 1, 2, kReduceL1, 1, 18},
    {"ReduceMax", plain<kMax>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMax", plain<kMax>, 1, 2, kReduceL1, 1, 18},
    {"ReduceMean", mean, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMean", mean, 1, 2, kReduceL1, 1, 18},
    {"ReduceMin", plain<kMin>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceMin", plain<kMin>, 1, 2, kReduceL1, 1, 18},
    {"ReduceProd", plain<kProd>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceProd", plain<kProd>, 1, 2, kReduceL1, 1, 18},
    {"ReduceSum", plain<kSum>, 1, 1, kReduceSum, 1, kFirstOpset, 12},
    {"ReduceSum", plain<kSum>, 1, 2, kReduceSum, 1, 13},
    {"ReduceSumSquare", composed<square_sum>, 1, 1, kReduceL1, 1, kFirstOpset, 17},
    {"ReduceSumSquare", composed<square_sum>, 1, 2, kReduceL1, 1, 18},
};

}  // namespace

extern constinit const ConverterTable reduce_info = {kRows};

}  // namespace tilewright::frontend::onnx
