// Slices, indexing and padding: strided_slice, take, pad.
#include <cmath>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/arrange.h"
#include "tilewright/te/topi/conv.h"
#include "tilewright/te/topi/transform.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

// ---- strided_slice: bounds as in numpy, clamped to the tensor

struct SliceAttrs {
  bool assume_inbound = false;
  static constexpr auto fields() {
    return std::tuple{field<&SliceAttrs::assume_inbound>("assume_inbound",
                                                         "bounds are within the tensor and not negative")};
  }
};

struct SlicePlan {
  Shape begin, strides, shape;
};

int64_t constant_of(const Call& call, size_t n, const PrimExpr& value) {
  int64_t number;
  if (!tir::as_const_int(value, &number))
    throw Unsupported(call, "{}: {} holds {}, which is not a constant", name_of(call), arg_name(call, n),
                      tir::expr_text(value));
  return number;
}

// `bound` clamped to low .. high; a negative one counts from the end
PrimExpr clamped(const PrimExpr& bound, const PrimExpr& extent, const PrimExpr& low, const PrimExpr& high) {
  PrimExpr value = bound;
  if (const auto* number = bound.as<IntImmNode>()) {
    if (number->value > INT32_MAX) return high;
    if (number->value < -INT32_MAX) return low;
    if (number->value < 0) value = bound + extent;
  }
  return arith::simplify(tir::min(tir::max(value, low), high));
}

// nullopt if the bounds are known only at run time.
std::optional<SlicePlan> plan_slice(const Call& call, const Shape& shape, bool in_bounds) {
  Shape axes, begin, end, strides;
  int64_t count;
  if (!shape_arg(call, 1, &count, &axes) || !shape_arg(call, 2, &count, &begin) ||
      !shape_arg(call, 3, &count, &end))
    return std::nullopt;
  if (call->args.size() > 4 && !shape_arg(call, 4, &count, &strides)) return std::nullopt;
  if (strides.empty()) strides.assign(axes.size(), extent_imm(1));
  if (begin.size() != axes.size() || end.size() != axes.size() || strides.size() != axes.size())
    fail(call, "{} axes, {} begins, {} ends and {} strides", axes.size(), begin.size(), end.size(),
         strides.size());
  SlicePlan plan{Shape(shape.size(), extent_imm(0)), Shape(shape.size(), extent_imm(1)), shape};
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(
        normalize_axis(call, constant_of(call, 1, axes[n]), static_cast<int64_t>(shape.size())));
    const PrimExpr& extent = shape[axis];
    const int64_t stride = constant_of(call, 4, strides[n]);
    if (stride == 0) fail(call, "the stride of axis {} is 0", axis);
    const PrimExpr zero = extent_imm(0), one = extent_imm(1);
    const PrimExpr low = stride > 0 ? zero : zero - one, high = stride > 0 ? extent : extent - 1;
    const PrimExpr first = in_bounds ? begin[n] : clamped(begin[n], extent, low, high),
                   last = in_bounds ? end[n] : clamped(end[n], extent, low, high);
    const PrimExpr length = stride > 0 ? tir::floordiv(last - first + (stride - 1), stride)
                                       : tir::floordiv(first - last + (-stride - 1), -stride);
    plan.strides[axis] = extent_imm(stride);
    arith::Analyzer analyzer;
    analyzer.require(tir::operator<=(zero, extent));
    // empty whatever the extent is: no index is left that a proof of bounds would have to cover
    if (!in_bounds && analyzer.can_prove(tir::operator<=(stride > 0 ? last - first : first - last, zero))) {
      plan.begin[axis] = plan.shape[axis] = zero;
      continue;
    }
    plan.begin[axis] = first;
    const PrimExpr simple = arith::simplify(length);
    plan.shape[axis] = in_bounds || analyzer.can_prove(tir::operator<=(zero, simple))
                           ? simple
                           : arith::simplify(tir::max(simple, zero));
  }
  return plan;
}

// Checks the promise of assume_inbound: the first and the last element of the slice lie in the tensor.
void require_in_bounds(const SlicePlan& plan, const Shape& shape, Requirements& require) {
  for (size_t n = 0; n < shape.size(); ++n) {
    const PrimExpr first = as_extent(plan.begin[n]), length = as_extent(plan.shape[n]);
    if (tir::is_zero(first) && equal_extents(length, shape[n]) == Answer::kYes) continue;
    const PrimExpr last = first + (length - 1) * plan.strides[n];
    const auto is_inside = [&](const PrimExpr& at) {
      return tir::logical_and(tir::operator>=(at, 0), tir::operator<(at, as_extent(shape[n])));
    };
    require.holds(tir::logical_or(tir::equal(length, extent_imm(0)),
                                  tir::logical_and(is_inside(first), is_inside(last))),
                  "elements {} to {} of dimension {} are asked for, but x is {}", first, last, n, shape);
    require.holds(tir::operator>=(length, 0), "the slice of dimension {} of x {} has {} elements", n, shape,
                  length);
  }
}

Type infer_slice(const Call& call, const SliceAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  std::optional<SlicePlan> plan;
  if (shape) plan = plan_slice(call, *shape, attrs.assume_inbound);
  if (plan && attrs.assume_inbound) require_in_bounds(*plan, *shape, require);
  return plan ? tensor_type(std::move(plan->shape), x->dtype) : tensor_type_of_ndim(x->ndim, x->dtype);
}
te::Tensor lower_slice(const LowerInput& in, const SliceAttrs& attrs) {
  const std::optional<SlicePlan> plan = plan_slice(in.call, in[0].shape(), attrs.assume_inbound);
  if (!plan) throw Unsupported(in.call, "strided_slice: the bounds are known only at run time");
  return topi::strided_slice(in[0], plan->begin, plan->strides, plan->shape);
}

// ---- the gradient of strided_slice with respect to x: (output_grad, x, axes, begin, end, strides)

Call slice_of(const Call& call) {
  return with(call, [](CallNode& node) { node.args.erase(node.args.begin()); });
}
Type infer_slice_backward(const Call& call, const SliceAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 1);
  if (const Shape* shape = known_shape(x)) plan_slice(slice_of(call), *shape, attrs.assume_inbound);
  return Type(x);
}
te::Tensor lower_slice_backward(const LowerInput& in, const SliceAttrs& attrs) {
  const te::Tensor& grad = in[0];
  const Shape& shape = in.out_shape();
  const std::optional<SlicePlan> plan = plan_slice(slice_of(in.call), shape, attrs.assume_inbound);
  if (!plan) throw Unsupported(in.call, "strided_slice: the bounds are known only at run time");
  return te::compute(
      shape,
      [&](const std::vector<tir::Var>& i) {
        std::vector<PrimExpr> at(i.begin(), i.end());
        PrimExpr is_inside = tir::bool_imm(true);
        for (size_t n = 0; n < at.size(); ++n) {
          const int64_t stride = plan->strides[n].as<IntImmNode>()->value;
          const bool is_whole = stride == 1 && tir::is_zero(plan->begin[n]) &&
                                equal_extents(plan->shape[n], shape[n]) == Answer::kYes;
          if (is_whole) continue;
          const PrimExpr distance = stride > 0 ? at[n] - plan->begin[n] : plan->begin[n] - at[n];
          const int64_t step = stride > 0 ? stride : -stride;
          at[n] = tir::floordiv(distance, step);
          const PrimExpr zero = tir::make_const_int(distance->dtype, 0);
          is_inside = tir::logical_and(is_inside, tir::operator<=(zero, distance));
          is_inside = tir::logical_and(is_inside, tir::operator<(at[n], plan->shape[n]));
          if (step > 1)
            is_inside = tir::logical_and(is_inside, tir::equal(tir::floormod(distance, step), zero));
        }
        const PrimExpr element = grad.at(at);
        return tir::call(element->dtype, "if_then_else",
                         {is_inside, element, tir::make_const_int(element->dtype, 0)});
      },
      {.name = "T_strided_slice_backward"});
}

// ---- take

struct TakeAttrs {
  std::optional<int64_t> axis;
  std::string mode = "fast";
  static constexpr auto fields() {
    return std::tuple{
        field<&TakeAttrs::axis>("axis", "the dimension of x that is indexed; may be left out for a vector"),
        field<&TakeAttrs::mode>(
            "mode",
            "indices out of bounds: \"fast\" assumes that there are none and reads wherever they "
            "point (check_bounds=True finds them), \"clip\" or \"wrap\"")};
  }
};
int64_t take_axis(const Call& call, const TakeAttrs& attrs, int64_t ndim) {
  if (!attrs.axis && ndim != 1)
    fail(call, "axis is not given for a tensor with {}", count_text(ndim, "dimension"));
  return normalize_axis(call, attrs.axis.value_or(0), ndim);
}
Type infer_take(const Call& call, const TakeAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *indices = tensor_arg(call, 1);
  if (!indices->dtype.is_void() && !indices->dtype.is_integral())
    fail(call, "indices is {}, expected integers", short_text(indices));
  if (attrs.mode != "fast" && attrs.mode != "clip" && attrs.mode != "wrap")
    fail(call, "mode is \"{}\", expected \"fast\", \"clip\" or \"wrap\"", attrs.mode);
  if (x->ndim < 0) return tensor_type_of_ndim(-1, x->dtype);
  const int64_t axis = take_axis(call, attrs, x->ndim);
  const Shape *shape = known_shape(x), *at = known_shape(indices);
  if (!shape || !at)
    return tensor_type_of_ndim(indices->ndim < 0 ? -1 : x->ndim - 1 + indices->ndim, x->dtype);
  require_elements(call, 0, *shape, static_cast<size_t>(axis), *at, require);
  Shape result(shape->begin(), shape->begin() + axis);
  result.insert(result.end(), at->begin(), at->end());
  result.insert(result.end(), shape->begin() + axis + 1, shape->end());
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_take(const LowerInput& in, const TakeAttrs& attrs) {
  return topi::take(in[0], in[1], take_axis(in.call, attrs, static_cast<int64_t>(in[0].ndim())), attrs.mode);
}

// ---- pad

struct PadAttrs {
  std::vector<int64_t> pad_width;
  std::string pad_mode = "constant";
  ObjectRef pad_value;
  static constexpr auto fields() {
    return std::tuple{
        field<&PadAttrs::pad_width>("pad_width",
                                    "before and after dimension 0, before and after dimension 1, ..."),
        field<&PadAttrs::pad_mode>("pad_mode",
                                   "\"constant\", \"replicate\" (or \"edge\"), \"reflect\" or \"circular\""),
        field<&PadAttrs::pad_value>("pad_value", "value of the padding in mode \"constant\"; none: 0")};
  }
};
// The value of the padding, as a literal of `dtype`; integers exactly.
PrimExpr pad_value_of(const Call& call, const PadAttrs& attrs, DataType dtype) {
  if (!attrs.pad_value) return tir::make_const_int(dtype, 0);
  if (const auto* number = attrs.pad_value.as<IntImmNode>()) {
    if (!dtype.is_float() && tir::wrap_int(number->value, dtype) != number->value)
      fail(call, "pad_value is {}, which {} does not hold", number->value, dtype.str());
    return tir::make_const_int(dtype, number->value);
  }
  const auto* real = attrs.pad_value.as<FloatImmNode>();
  if (!real) fail(call, "pad_value is not a number");
  const double limit = std::ldexp(1.0, dtype.bits - (dtype.is_int() ? 1 : 0));
  if (dtype.is_integral() && !(real->value < limit && real->value >= (dtype.is_int() ? -limit : 0.0)))
    fail(call, "pad_value is {}, which {} does not hold", real->value, dtype.str());
  return tir::make_const(dtype, real->value);
}
Type infer_pad(const Call& call, const PadAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (!x->dtype.is_void()) pad_value_of(call, attrs, x->dtype);
  if (x->ndim < 0) return tensor_type_of_ndim(-1, x->dtype);
  if (attrs.pad_width.size() != 2 * static_cast<size_t>(x->ndim))
    fail(call, "pad_width has {} numbers, expected {} for {}", attrs.pad_width.size(), 2 * x->ndim,
         count_text(x->ndim, "dimension"));
  const std::string& mode = attrs.pad_mode;
  if (mode != "constant" && mode != "edge" && mode != "replicate" && mode != "reflect" && mode != "circular")
    fail(call, "pad_mode is \"{}\", expected \"constant\", \"replicate\", \"reflect\" or \"circular\"", mode);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(x->ndim, x->dtype);
  Shape result;
  for (size_t n = 0; n < shape->size(); ++n) {
    result.push_back(arith::simplify((*shape)[n] + (attrs.pad_width[2 * n] + attrs.pad_width[2 * n + 1])));
    const PrimExpr own = as_extent((*shape)[n]);
    const int64_t most = std::max(attrs.pad_width[2 * n], attrs.pad_width[2 * n + 1]);
    if (std::min(attrs.pad_width[2 * n], attrs.pad_width[2 * n + 1]) < 0)
      require.holds(tir::operator>=(as_extent(result.back()), 0),
                    "pad_width leaves {} elements of dimension {}", result.back(), n);
    if (most <= 0 || mode == "constant") continue;
    if (mode == "reflect")
      require.holds(tir::operator>(own, most), "dimension {} of {} elements cannot be mirrored by {}", n, own,
                    most);
    else
      require.holds(tir::operator>=(own, 1), "dimension {} of data {} has no elements to repeat", n, *shape);
  }
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_pad(const LowerInput& in, const PadAttrs& attrs) {
  std::vector<int64_t> before, after;
  for (size_t n = 0; n < in[0].ndim(); ++n) {
    before.push_back(attrs.pad_width[2 * n]);
    after.push_back(attrs.pad_width[2 * n + 1]);
  }
  if (attrs.pad_mode == "constant")
    return topi::pad(in[0], before, after, pad_value_of(in.call, attrs, in[0].dtype()));
  if (attrs.pad_mode == "circular") return topi::pad_circular(in[0], before, after);
  return topi::pad_with_own(in[0], before, after, attrs.pad_mode == "replicate" ? "edge" : attrs.pad_mode);
}

constexpr FusePattern kInjective = FusePattern::kInjective;
constexpr OpInfo kOps[] = {
    op<infer_slice, lower_slice, SliceAttrs>("relax.strided_slice", "x, axes, begin, end, strides?",
                                             "x[begin:end:strides] in some dimensions.", kInjective),
    op<infer_slice_backward, lower_slice_backward, SliceAttrs>(
        "relax.grad.strided_slice_backward", "output_grad, x, axes, begin, end, strides?",
        "The gradient of strided_slice with respect to x.", kInjective),
    op<infer_take, lower_take, TakeAttrs>("relax.take", "x, indices",
                                          "The elements of a dimension at given positions.", kInjective),
    op<infer_pad, lower_pad, PadAttrs>("relax.nn.pad", "data", "Pads a tensor.", kInjective),
};

}  // namespace

extern constinit const OpTable index_info =
    op_table(kOps, "numpy.org/doc/stable/reference (take, pad), onnx.ai/onnx/operators (Slice 13)");

}  // namespace tilewright::relax
