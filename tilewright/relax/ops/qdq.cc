// Quantization by scale and zero point, per tensor, per index of one dimension, or per block along it.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/broadcast.h"

namespace tilewright::relax {
namespace {

template <bool kQuantize>
struct Attrs {
  int64_t axis = -1;
  DataType out_dtype = kQuantize ? DataType::int_(8) : kFloat32;
  int64_t block_size = 0;
  static constexpr auto fields() {
    return std::tuple{field<&Attrs::axis>("axis", "the dimension that scales belong to"),
                      field<&Attrs::out_dtype>("out_dtype", "element type of the result"),
                      field<&Attrs::block_size>("block_size",
                                                "elements along axis that share a scale; 0: there is one for "
                                                "each index, or for all")};
  }
};

// Checks the scale or zero point: one for all, or one for each block along `axis`, with
// as many dimensions as data.
void require_blocks(const Call& call, size_t n, int64_t axis, int64_t block_size, Requirements& require) {
  const TensorTypeNode *data = tensor_arg(call, 0), *given = tensor_arg(call, n);
  if (given->ndim == 0) return;
  require_ndim(call, n, data->ndim);
  const Shape *shape = known_shape(data), *own = known_shape(given);
  if (!shape || !own) return;
  for (size_t dim = 0; dim < shape->size(); ++dim) {
    const PrimExpr extent = static_cast<int64_t>(dim) == axis
                                ? tir::ceildiv((*shape)[dim], extent_imm(block_size))
                                : (*shape)[dim];
    require.equal((*own)[dim], extent,
                  "{} is {}, but data {} in blocks of {} along dimension {} has extent {} there",
                  arg_name(call, n), *own, *shape, block_size, axis, extent);
  }
}

template <bool kQuantize>
Type infer(const Call& call, const Attrs<kQuantize>& attrs, Requirements& require) {
  const TensorTypeNode* data = tensor_arg(call, 0);
  const DataType whole = kQuantize ? attrs.out_dtype : data->dtype,
                 real = kQuantize ? data->dtype : attrs.out_dtype;
  if (!whole.is_void() && !whole.is_int() && !whole.is_uint())
    fail(call, "{} is {}, expected integers", kQuantize ? "out_dtype" : "data", whole.str());
  if (!real.is_void() && !real.is_float())
    fail(call, "{} is {}, expected a floating-point dtype", kQuantize ? "data" : "out_dtype", real.str());
  const int64_t axis = data->ndim > 0 ? normalize_axis(call, attrs.axis, data->ndim) : 0;
  const Shape* shape = known_shape(data);
  if (attrs.block_size < 0) fail(call, "block_size is {}, expected at least 0", attrs.block_size);
  for (size_t n = 1; n < 3; ++n) {
    const TensorTypeNode* given = tensor_arg(call, n);
    if (attrs.block_size > 0) {
      require_blocks(call, n, axis, attrs.block_size, require);
      continue;
    }
    if (given->ndim > 1)
      fail(call, "{} is {}, expected a scalar or a vector", arg_name(call, n), short_text(given));
    const Shape* own = known_shape(given);
    if (!own || own->size() != 1 || !shape || shape->empty()) continue;
    const PrimExpr& extent = (*shape)[static_cast<size_t>(axis)];
    require.holds(broadcasts_to(*own, {extent}), "{} is {}, but dimension {} of data {} has extent {}",
                  arg_name(call, n), *own, axis, *shape, extent);
  }
  return shape ? tensor_type(*shape, attrs.out_dtype) : tensor_type_of_ndim(data->ndim, attrs.out_dtype);
}

// The value of `x` at `i`: a scalar, a vector along `axis`, or one value for each block along it.
PrimExpr along(const te::Tensor& x, const te::Tensor& data, const std::vector<tir::Var>& i, size_t axis,
               int64_t block_size) {
  if (x.ndim() == 0) return x.at({});
  if (block_size > 0) {
    te::Indices at(i.begin(), i.end());
    at[axis] = tir::floordiv(i[axis], extent_imm(block_size));
    return x.at(at);
  }
  if (tir::is_one(x.shape()[0])) return x.at({extent_imm(0)});
  return x.at({topi::broadcast_index(x.shape()[0], data.shape()[axis], i[axis])});
}

template <bool kQuantize>
te::Tensor lower(const LowerInput& in, const Attrs<kQuantize>& attrs) {
  const auto ndim = static_cast<int64_t>(in[0].ndim());
  const auto axis = static_cast<size_t>(ndim > 0 ? normalize_axis(in.call, attrs.axis, ndim) : 0);
  const DataType out = attrs.out_dtype;
  return te::compute(
      in[0].shape(),
      [&](const std::vector<tir::Var>& i) {
        const PrimExpr value = in[0].at({i.begin(), i.end()}),
                       scale = along(in[1], in[0], i, axis, attrs.block_size),
                       zero_point = along(in[2], in[0], i, axis, attrs.block_size);
        if (!kQuantize) {
          const DataType wide = zero_point->dtype.is_float() ? zero_point->dtype : kInt32;
          return tir::cast(out, tir::cast(wide, value) - tir::cast(wide, zero_point)) * tir::cast(out, scale);
        }
        const DataType real = value->dtype;
        const PrimExpr steps = tir::call(real, "round", {tir::div(value, tir::cast(real, scale))});
        const PrimExpr moved = steps + tir::cast(real, zero_point);
        return tir::cast(out, tir::min(tir::max(moved, tir::cast(real, tir::min_value(out))),
                                       tir::cast(real, tir::max_value(out))));
      },
      {.name = kQuantize ? "T_quantize" : "T_dequantize"});
}

constexpr OpInfo kOps[] = {
    op<infer<true>, lower<true>, Attrs<true>>(
        "relax.quantize", "data, scale, zero_point",
        "round(data / scale) + zero_point, within the range of out_dtype.", FusePattern::kElementwise),
    op<infer<false>, lower<false>, Attrs<false>>("relax.dequantize", "data, scale, zero_point",
                                                 "(data - zero_point) * scale.", FusePattern::kElementwise),
};

}  // namespace

extern constinit const OpTable qdq_info =
    op_table(kOps, "onnx.ai/onnx/operators (QuantizeLinear 21, DequantizeLinear 21)");

}  // namespace tilewright::relax
