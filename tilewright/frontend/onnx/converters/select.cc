// Elements, slices and boxes that the data selects: how many there are is known only when the model runs.
// Source: onnx.ai/onnx/operators, opset 9 to 28.
#include <algorithm>
#include <tuple>
#include <utility>

#include "tilewright/frontend/onnx/graphs/string_graph.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

// The places [ndim, size] of the elements that are not zero.
Expr places_of(Importer& importer, const Node& node, const Expr& x) {
  const auto ndim = std::max<int64_t>(static_cast<int64_t>(shape_of(node, x).size()), 1);
  return importer.with_shape(importer.bind(node, "relax.nonzero", {x}), {relax::extent_imm(ndim), nullptr});
}

void non_zero(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0), places = places_of(importer, node, x);
  if (!shape_of(node, x).empty()) return importer.define(node.outputs.at(0), places);
  // a scalar has no dimension to tell the place of
  const relax::Shape none{relax::extent_imm(0)};
  importer.emit(node, "relax.strided_slice",
                {places, relax::shape_expr(none), relax::shape_expr(none), relax::shape_expr(none)});
}

void compress(Importer& importer, const Node& node) {
  Expr x = importer.value(node, 0);
  const Expr condition = importer.value(node, 1);
  const relax::Shape &chosen = shape_of(node, condition), whole = shape_of(node, x);
  if (chosen.size() != 1)
    throw UserError("condition has {}, expected 1", count_text(chosen.size(), "dimension"));
  int64_t axis = 0;
  if (node.find("axis"))
    axis = checked_axis(int_attr(node, "axis", 0), whole.size());
  else if (whole.size() != 1)
    x = importer.reshaped(node, x, {importer.facts.simplify(relax::num_elements(whole))});
  const ir::PrimExpr extent = shape_of(node, x)[static_cast<size_t>(axis)];
  importer.require(node, tir::operator<=(relax::as_extent(chosen[0]), relax::as_extent(extent)),
                   "condition has {} elements for an extent of {}", chosen[0], extent);
  const Expr places = places_of(importer, node, condition);
  const Expr list = importer.reshaped(node, places, {shape_of(node, places)[1]});
  importer.emit(node, "relax.take", {x, list}, {{"axis", attr(axis)}, {"mode", attr("clip")}});
}

void unique(Importer& importer, const Node& node) {
  Expr x = importer.value(node, 0), strings;
  if (node.reads_strings(0)) std::tie(x, strings) = strings_in_order(importer, x);
  relax::Shape shape = shape_of(node, x);
  ir::AttrMap attrs{{"sorted", attr(int_attr(node, "sorted", 1) != 0)},
                    {"return_index", attr(true)},
                    {"return_inverse", attr(true)},
                    {"return_counts", attr(true)}};
  size_t axis = 0;
  if (node.find("axis")) {
    axis = static_cast<size_t>(checked_axis(int_attr(node, "axis", 0), shape.size()));
    attrs.set("axis", attr(static_cast<int64_t>(axis)));
  } else {
    shape = {importer.facts.simplify(relax::num_elements(shape))};
  }
  const ir::PrimExpr searched = std::exchange(shape[axis], nullptr);
  const Expr all = importer.bind(node, "relax.unique", {x}, std::move(attrs));
  const ir::Type type = relax::type_of(all);
  const auto field = [&](size_t n, relax::Shape extents) {
    return importer.with_shape(
        importer.bound(relax::TupleGetItemNode::make(all, static_cast<int64_t>(n),
                                                     type.as<ir::TupleTypeNode>()->elements.at(n))),
        std::move(extents));
  };
  const Expr values = field(0, shape);
  importer.define(
      node.outputs[0],
      strings ? importer.bind(node, "relax.take", {strings, values}, {{"axis", attr(int64_t{0})}}) : values);
  const ir::PrimExpr count = shape_of(node, values)[axis];
  for (size_t n = 1; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty()) importer.define(node.outputs[n], field(n, {n == 2 ? searched : count}));
  }
}

// A scalar input, or a list of one element, as a tensor of shape []; `otherwise` if it is left out.
Expr scalar_input(Importer& importer, const Node& node, size_t input, double otherwise, DataType dtype) {
  const Expr value = importer.value(node, input);
  if (!value) return number(otherwise, dtype);
  importer.require(node, tir::equal(relax::num_elements(shape_of(node, value)), relax::extent_imm(1)),
                   "input {} is {}, expected 1 element", static_cast<int64_t>(input), shape_of(node, value));
  return importer.reshaped(node, value, {});
}

void non_max_suppression(Importer& importer, const Node& node) {
  std::vector<Expr> args{importer.value(node, 0), importer.value(node, 1),
                         scalar_input(importer, node, 2, 0, kInt64),
                         scalar_input(importer, node, 3, 0, kFloat32)};
  if (importer.has_input(node, 4)) args.push_back(scalar_input(importer, node, 4, 0, kFloat32));
  const Expr rows = importer.bind(node, "relax.vision.select_boxes", std::move(args),
                                  {{"center_point_box", attr(int_attr(node, "center_point_box", 0) != 0)}});
  importer.define(node.outputs.at(0), importer.with_shape(rows, {nullptr, relax::extent_imm(3)}));
}

constexpr AttributeRule kCompress[] = {{"axis", Attribute::kInt}};
constexpr AttributeRule kNonMaxSuppression[] = {flag("center_point_box")};
constexpr AttributeRule kUnique[] = {{"axis", Attribute::kInt}, flag("sorted")};

constexpr ConverterRow kRows[] = {
    {"Compress", compress, 2, 2, kCompress, 1, 9},
    {"NonMaxSuppression", non_max_suppression, 2, 5, kNonMaxSuppression, 1, 10},
    {"NonZero", non_zero, 1, 1, {}, 1, 9},
    {"Unique", unique, 1, 1, kUnique, 4, 11, kLastOpset, 4},
};

}  // namespace

extern constinit const ConverterTable select_info = {kRows};

}  // namespace tilewright::frontend::onnx
