// Bindings for the tensor expressions of te/topi; python/tilewright/topi defines their arguments.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"
#include "tilewright/te/topi/arrange.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/conv.h"
#include "tilewright/te/topi/einsum.h"
#include "tilewright/te/topi/gather.h"
#include "tilewright/te/topi/layout.h"
#include "tilewright/te/topi/matmul.h"
#include "tilewright/te/topi/pool.h"
#include "tilewright/te/topi/reduce.h"
#include "tilewright/te/topi/softmax.h"
#include "tilewright/te/topi/transform.h"

namespace tilewright::python {
namespace {

using te::Shape;
using te::Tensor;
using topi::Axes;
using TensorNode = Ref<te::TeTensorNode>;
using Ints = std::vector<int64_t>;

using Exprs = std::vector<tir::PrimExpr>;

std::vector<Tensor> tensors(const std::vector<TensorNode>& nodes) { return {nodes.begin(), nodes.end()}; }
std::vector<TensorNode> nodes(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

template <Tensor (*kOp)(const Tensor&)>
void bind_unary(nb::module_& m, const char* name) {
  m.def(name, [](const TensorNode& x) -> TensorNode { return kOp(x); });
}

template <Tensor (*kOp)(const Tensor&, const Tensor&)>
void bind_binary(nb::module_& m, const char* name) {
  m.def(name, [](const TensorNode& a, const TensorNode& b) -> TensorNode { return kOp(a, b); });
}

template <Tensor (*kOp)(const Tensor&, const Axes&, bool)>
void bind_reduction(nb::module_& m, const char* name) {
  m.def(name, [](const TensorNode& x, const Axes& axes, bool keepdims) -> TensorNode {
    return kOp(x, axes, keepdims);
  });
}

void bind_elementwise(nb::module_& m) {
  m.def("math", [](const TensorNode& x, const std::string& op) -> TensorNode { return topi::math(x, op); });
  bind_unary<topi::abs>(m, "abs");
  bind_unary<topi::negative>(m, "negative");
  bind_unary<topi::sign>(m, "sign");
  bind_unary<topi::square>(m, "square");
  bind_unary<topi::relu>(m, "relu");
  bind_unary<topi::gelu>(m, "gelu");
  bind_unary<topi::silu>(m, "silu");
  bind_unary<topi::logical_not>(m, "logical_not");
  bind_unary<topi::bitwise_not>(m, "bitwise_not");
  bind_unary<topi::isnan>(m, "isnan");
  bind_unary<topi::isinf>(m, "isinf");
  bind_unary<topi::isfinite>(m, "isfinite");
  m.def("leaky_relu",
        [](const TensorNode& x, double alpha) -> TensorNode { return topi::leaky_relu(x, alpha); });
  m.def("clip", [](const TensorNode& x, const tir::PrimExpr& low, const tir::PrimExpr& high) -> TensorNode {
    return topi::clip(x, low, high);
  });
  m.def("cast", [](const TensorNode& x, DataType dtype) -> TensorNode { return topi::cast(x, dtype); });
}

void bind_broadcast(nb::module_& m) {
  bind_binary<topi::add>(m, "add");
  bind_binary<topi::subtract>(m, "subtract");
  bind_binary<topi::multiply>(m, "multiply");
  bind_binary<topi::divide>(m, "divide");
  bind_binary<topi::floor_divide>(m, "floor_divide");
  bind_binary<topi::mod>(m, "mod");
  bind_binary<topi::truncmod>(m, "truncmod");
  bind_binary<topi::log_add_exp>(m, "log_add_exp");
  bind_binary<topi::power>(m, "power");
  bind_binary<topi::atan2>(m, "atan2");
  bind_binary<topi::maximum>(m, "maximum");
  bind_binary<topi::minimum>(m, "minimum");
  bind_binary<topi::equal>(m, "equal");
  bind_binary<topi::not_equal>(m, "not_equal");
  bind_binary<topi::less>(m, "less");
  bind_binary<topi::less_equal>(m, "less_equal");
  bind_binary<topi::greater>(m, "greater");
  bind_binary<topi::greater_equal>(m, "greater_equal");
  bind_binary<topi::logical_and>(m, "logical_and");
  bind_binary<topi::logical_or>(m, "logical_or");
  bind_binary<topi::logical_xor>(m, "logical_xor");
  bind_binary<topi::bitwise_and>(m, "bitwise_and");
  bind_binary<topi::bitwise_or>(m, "bitwise_or");
  bind_binary<topi::bitwise_xor>(m, "bitwise_xor");
  bind_binary<topi::left_shift>(m, "left_shift");
  bind_binary<topi::right_shift>(m, "right_shift");
  bind_binary<topi::prelu>(m, "prelu");
  m.def("where", [](const TensorNode& condition, const TensorNode& a, const TensorNode& b) -> TensorNode {
    return topi::where(condition, a, b);
  });
  m.def("broadcast_to",
        [](const TensorNode& x, const Exprs& shape) -> TensorNode { return topi::broadcast_to(x, shape); });
  m.def("broadcast_shape",
        [](const Exprs& a, const Exprs& b) -> Exprs { return topi::broadcast_shape(a, b); });
}

void bind_reductions(nb::module_& m) {
  bind_reduction<topi::sum>(m, "sum");
  bind_reduction<topi::prod>(m, "prod");
  bind_reduction<topi::max>(m, "max");
  bind_reduction<topi::min>(m, "min");
  bind_reduction<topi::any>(m, "any");
  bind_reduction<topi::all>(m, "all");
  bind_reduction<topi::mean>(m, "mean");
  bind_reduction<topi::variance>(m, "variance");
  bind_reduction<topi::standard_deviation>(m, "std");
  m.def("argmax", [](const TensorNode& x, const Axes& axes, bool keepdims, DataType dtype) -> TensorNode {
    return topi::argmax(x, axes, keepdims, dtype);
  });
  m.def("argmin", [](const TensorNode& x, const Axes& axes, bool keepdims, DataType dtype) -> TensorNode {
    return topi::argmin(x, axes, keepdims, dtype);
  });
  m.def("cumsum", [](const TensorNode& x, int64_t axis, bool exclusive, bool reverse) -> TensorNode {
    return topi::cumsum(x, axis, exclusive, reverse);
  });
  m.def("cumprod", [](const TensorNode& x, int64_t axis, bool exclusive, bool reverse) -> TensorNode {
    return topi::cumprod(x, axis, exclusive, reverse);
  });
  m.def("collapse_sum",
        [](const TensorNode& x, const Exprs& shape) -> TensorNode { return topi::collapse_sum(x, shape); });
  m.def("softmax", [](const TensorNode& x, int64_t axis) -> TensorNode { return topi::softmax(x, axis); });
  m.def("log_softmax",
        [](const TensorNode& x, int64_t axis) -> TensorNode { return topi::log_softmax(x, axis); });
}

void bind_moves(nb::module_& m) {
  m.def("reshape", [](const TensorNode& x, const std::vector<tir::PrimExpr>& shape) -> TensorNode {
    return topi::reshape(x, shape);
  });
  m.def("transpose",
        [](const TensorNode& x, const Ints& axes) -> TensorNode { return topi::transpose(x, axes); });
  m.def("expand_dims",
        [](const TensorNode& x, const Ints& axes) -> TensorNode { return topi::expand_dims(x, axes); });
  m.def("squeeze",
        [](const TensorNode& x, const Ints& axes) -> TensorNode { return topi::squeeze(x, axes); });
  m.def("concatenate", [](const std::vector<TensorNode>& parts, int64_t axis) -> TensorNode {
    return topi::concat(tensors(parts), axis);
  });
  m.def("take",
        [](const TensorNode& x, const TensorNode& indices, int64_t axis,
           const std::string& mode) -> TensorNode { return topi::take(x, indices, axis, mode); });
  m.def("tile",
        [](const TensorNode& x, const Ints& repeats) -> TensorNode { return topi::tile(x, repeats); });
  m.def("repeat", [](const TensorNode& x, int64_t repeats, int64_t axis) -> TensorNode {
    return topi::repeat(x, repeats, axis);
  });
  m.def("flip", [](const TensorNode& x, int64_t axis) -> TensorNode { return topi::flip(x, axis); });
  m.def("reverse_sequence",
        [](const TensorNode& x, const TensorNode& lengths, int64_t axis, int64_t batch_axis) -> TensorNode {
          return topi::reverse_sequence(x, lengths, axis, batch_axis);
        });
  m.def("full",
        [](const std::vector<tir::PrimExpr>& shape, DataType dtype,
           const tir::PrimExpr& value) -> TensorNode { return topi::full(shape, dtype, value); });
  m.def("pad",
        [](const TensorNode& x, const Ints& before, const Ints& after,
           const tir::PrimExpr& value) -> TensorNode { return topi::pad(x, before, after, value); });
}

void bind_slices(nb::module_& m) {
  m.def("strided_slice",
        [](const TensorNode& x, const Exprs& begin, const Exprs& strides, const Exprs& shape) -> TensorNode {
          return topi::strided_slice(x, begin, strides, shape);
        });
  m.def("split", [](const TensorNode& x, const Exprs& starts, int64_t axis) {
    return nodes(topi::split(x, starts, axis));
  });
  m.def("slice_scatter",
        [](const TensorNode& x, const TensorNode& source, const tir::PrimExpr& begin,
           const tir::PrimExpr& stride,
           int64_t axis) -> TensorNode { return topi::slice_scatter(x, source, begin, stride, axis); });
  m.def("gather_elements", [](const TensorNode& x, const TensorNode& indices, int64_t axis) -> TensorNode {
    return topi::gather_elements(x, indices, axis);
  });
  m.def("gather_nd", [](const TensorNode& x, const TensorNode& indices, int64_t batch_dims) -> TensorNode {
    return topi::gather_nd(x, indices, batch_dims);
  });
  m.def("index_tensor",
        [](const TensorNode& x, const std::vector<TensorNode>& indices, const Exprs& places) -> TensorNode {
          return topi::index_tensor(x, tensors(indices), places);
        });
  m.def("one_hot",
        [](const TensorNode& indices, const tir::PrimExpr& on_value, const tir::PrimExpr& off_value,
           int64_t depth, int64_t axis, DataType dtype) -> TensorNode {
          return topi::one_hot(indices, on_value, off_value, depth, axis, dtype);
        });
  m.def("searchsorted",
        [](const TensorNode& sorted, const TensorNode& x, bool right, DataType dtype) -> TensorNode {
          return topi::searchsorted(sorted, x, right, dtype);
        });
}

void bind_arrangements(nb::module_& m) {
  m.def("stack", [](const std::vector<TensorNode>& parts, int64_t axis) -> TensorNode {
    return topi::stack(tensors(parts), axis);
  });
  m.def("spread", [](const TensorNode& vector, const Exprs& shape, int64_t along) -> TensorNode {
    return topi::spread(vector, shape, static_cast<size_t>(along));
  });
  m.def("triangle", [](const TensorNode& x, const tir::PrimExpr& k, bool upper) -> TensorNode {
    return topi::triangle(x, k, upper);
  });
  m.def("eye", [](const Exprs& shape, const tir::PrimExpr& k, DataType dtype) -> TensorNode {
    return topi::eye(shape, k, dtype);
  });
  m.def("arange",
        [](const tir::PrimExpr& start, const tir::PrimExpr& step, const tir::PrimExpr& count,
           DataType dtype) -> TensorNode { return topi::arange(start, step, count, dtype); });
  m.def("layout_transform",
        [](const TensorNode& x, const tir::IndexMap& map, const tir::PrimExpr& pad) -> TensorNode {
          Exprs extents;
          for (const tir::PrimExpr& extent : x->shape) extents.push_back(tir::cast(kInt64, extent));
          const topi::MappedLayout layout = topi::map_layout(map, extents);
          if (!layout.problem.empty())
            throw UserError("layout_transform: the map does not fit: {}", layout.problem);
          return topi::layout_transform(x, layout, pad);
        });
}

void bind_layers(nb::module_& m) {
  m.def("matmul", [](const TensorNode& a, const TensorNode& b, DataType dtype) -> TensorNode {
    return topi::matmul(a, b, dtype);
  });
  m.def("einsum", [](const std::vector<TensorNode>& operands, const std::string& subscripts) -> TensorNode {
    return topi::einsum(tensors(operands), topi::parse_einsum(subscripts));
  });
  m.def("dense", [](const TensorNode& x, const TensorNode& weight, DataType dtype) -> TensorNode {
    return topi::dense(x, weight, dtype);
  });
  m.def("conv",
        [](const TensorNode& data, const TensorNode& weight, const Ints& strides, const Ints& padding,
           const Ints& dilation, int64_t groups, const std::string& data_layout,
           const std::string& kernel_layout, DataType dtype) -> TensorNode {
          return topi::conv(data, weight,
                            {strides, padding, dilation, groups, data_layout, kernel_layout, dtype});
        });
  m.def("pool",
        [](const TensorNode& data, bool is_max, const Ints& window, const Ints& strides, const Ints& padding,
           const Ints& dilation, bool ceil_mode, bool count_include_pad,
           const std::string& layout) -> TensorNode {
          const topi::PoolOptions options{window,    strides,           padding, dilation,
                                          ceil_mode, count_include_pad, layout};
          return is_max ? topi::max_pool(data, options) : topi::avg_pool(data, options);
        });
}

// The tensors that the operator which `call` calls computes of `args`: for each argument of it a tensor, several, or
// none for a shape.
std::vector<TensorNode> of_call(const relax::Call& call, const std::vector<std::vector<TensorNode>>& args) {
  const relax::Type type = relax::infer_type(call);
  relax::LowerInput input{ir::with(call, [&](relax::CallNode& typed) { typed.type = type; }), {}};
  for (const std::vector<TensorNode>& each : args) input.args.push_back(tensors(each));
  const std::vector<Tensor> made = relax::op_of(call.get())->lower(input);
  return {made.begin(), made.end()};
}

}  // namespace

void bind_topi(nb::module_& m) {
  nb::module_ topi = m.def_submodule("topi", "Ready-made tensor expressions.");
  bind_elementwise(topi);
  bind_broadcast(topi);
  bind_reductions(topi);
  bind_moves(topi);
  bind_slices(topi);
  bind_arrangements(topi);
  bind_layers(topi);
  topi.def("of_call", &of_call);
}

}  // namespace tilewright::python
