// Other views of memory: layout_transform, memory.view, memory.ensure_zero_offset.
#include "tilewright/te/topi/layout.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

// ---- layout_transform

struct LayoutAttrs {
  tir::IndexMap index_map;
  ObjectRef pad_value;
  std::vector<int64_t> axis_separators, input_axis_separators;
  static constexpr auto fields() {
    using A = LayoutAttrs;
    return std::tuple{field<&A::index_map>("index_map", "maps an index of x to the position of its element"),
                      field<&A::pad_value>("pad_value", "value of positions without an element; none: zero"),
                      field<&A::axis_separators>("axis_separators",
                                                 "dimensions of the result that begin a physical dimension"),
                      field<&A::input_axis_separators>("input_axis_separators", "the same of x")};
  }
};

topi::MappedLayout layout_of(const Call& call, const Shape& shape, const LayoutAttrs& attrs) {
  topi::MappedLayout layout = topi::map_layout(attrs.index_map, shape);
  if (!layout.problem.empty())
    fail(call, "x is {}, its layout {}: {}", shape_text(shape), tir::index_map_text(attrs.index_map),
         layout.problem);
  return layout;
}

Type infer_layout(const Call& call, const LayoutAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (!attrs.index_map) fail(call, "index_map is not given");
  if (attrs.pad_value && !is<FloatImmNode>(attrs.pad_value) && !is<IntImmNode>(attrs.pad_value))
    fail(call, "pad_value is not a number");
  const Shape* shape = known_shape(x);
  if (!shape)
    return tensor_type_of_ndim(static_cast<int64_t>(attrs.index_map->final_indices.size()), x->dtype);
  return tensor_type(layout_of(call, *shape, attrs).shape, x->dtype);
}

te::Tensor lower_layout(const LowerInput& in, const LayoutAttrs& attrs) {
  const PrimExpr pad =
      attrs.pad_value ? ref_as<PrimExprNode>(attrs.pad_value) : tir::make_const(in.out_dtype(), 0);
  return topi::layout_transform(in[0], layout_of(in.call, in[0].shape(), attrs), pad);
}

// ---- memory.view

// The bytes as runtime::Tensor::num_bytes counts them: elements narrower than a byte are packed.
PrimExpr num_bytes(const Shape& shape, DataType dtype) {
  const int64_t bits = static_cast<int64_t>(dtype.bits) * dtype.lanes;
  if (bits % 8 == 0) return num_elements(shape) * extent_imm(bits / 8);
  return arith::simplify(tir::ceildiv(num_elements(shape) * extent_imm(bits), extent_imm(8)));
}

// (data, shape, dtype, relative_byte_offset); an empty tuple stands for an argument that is not given
bool has_arg(const Call& call, size_t n) {
  if (n >= call->args.size()) return false;
  const auto* none = call->args[n].as<TupleNode>();
  return !none || !none->elements.empty();
}

DataType viewed_dtype(const Call& call) {
  if (!has_arg(call, 2)) return tensor_arg(call, 0)->dtype;
  const auto* dtype = call->args[2].as<DataTypeValueNode>();
  if (!dtype) fail(call, "dtype is not a dtype such as R.dtype(\"float32\")");
  return dtype->value;
}

Type infer_view(const Call& call) {
  const TensorTypeNode* data = tensor_arg(call, 0);
  const DataType dtype = viewed_dtype(call);
  const PrimExpr offset = has_arg(call, 3) ? scalar_arg(call, 3)->value : extent_imm(0);
  const Shape* shape = known_shape(data);
  int64_t ndim = data->ndim;
  Shape storage;
  const Shape* wanted = has_arg(call, 1) ? shape_arg(call, 1, &ndim, &storage) : shape;
  if (!wanted) return tensor_type_of_ndim(ndim, dtype);
  if (!shape || data->dtype.is_void() || dtype.is_void() || !offset) return tensor_type(*wanted, dtype);
  const PrimExpr available = num_bytes(*shape, data->dtype), start = as_extent(offset);
  const PrimExpr used = num_bytes(*wanted, dtype);
  arith::Analyzer analyzer;
  if (analyzer.can_prove(tir::operator<(start, extent_imm(0))))
    fail(call, "relative_byte_offset is {}, which is negative", tir::expr_text(start));
  if (analyzer.can_prove(tir::operator>(start + used, available)))
    fail(call, "{} bytes from byte {} on are asked for, but data {} has {}", tir::expr_text(used),
         tir::expr_text(start), short_text(data), tir::expr_text(available));
  return tensor_type(*wanted, dtype);
}

Type infer_same(const Call& call) { return Type(tensor_arg(call, 0)); }

constexpr OpInfo kOps[] = {
    op<infer_layout, lower_layout, LayoutAttrs>("relax.layout_transform", "x",
                                                "The elements of x at the positions that an index map gives.",
                                                FusePattern::kInjective),
    runtime_op<infer_view>("relax.memory.view", "data, shape?, dtype?, relative_byte_offset?",
                           "The bytes of data as another shape and dtype; they must not be written.",
                           "tilewright.view"),
    runtime_op<infer_same>("relax.memory.ensure_zero_offset", "data",
                           "data, which begins where its memory begins.", "tilewright.ensure_zero_offset"),
};

}  // namespace

extern constinit const OpTable layout_info = op_table(
    kOps,
    "Lai et al., Relax: Composable Abstractions for End-to-End Dynamic Machine Learning, arXiv 2311.02117");

}  // namespace tilewright::relax
