// Elements put elsewhere: padding, splitting, gathering, scattering, sorting.
// Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/convert.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- shapes that grow

// Extents of the input and of the wanted shape are matched from the last on; 1 becomes the other.
void expand(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  relax::Shape from = shape_of(node, x), target = importer.require_known(node, 1);
  const relax::Shape& longer = from.size() > target.size() ? from : target;
  relax::Shape result = longer;
  for (size_t n = 1; n <= std::min(from.size(), target.size()); ++n) {
    const ir::PrimExpr &a = from[from.size() - n], &b = target[target.size() - n];
    result[result.size() - n] = tir::is_one(b) ? a : b;
  }
  importer.emit(node, "relax.broadcast_to", {x, relax::shape_expr(result)});
}

void tile(Importer& importer, const Node& node) {
  importer.emit(node, "relax.tile", {importer.value(node, 0)},
                {{"repeats", attr(importer.require_ints(node, 1))}});
}

/// What Pad adds before and after each dimension; numbers below 0 take away.
struct Padding {
  std::vector<int64_t> before, after;
};

Padding padding_of(Importer& importer, const Node& node, size_t ndim) {
  const std::vector<int64_t> pads =
      node.find("pads") ? ints_attr(node, "pads", {}) : importer.require_ints(node, 1);
  std::vector<int64_t> axes(ndim);
  for (size_t n = 0; n < ndim; ++n) axes[n] = static_cast<int64_t>(n);
  if (node.inputs.size() > 3 && !node.inputs[3].empty()) axes = importer.require_ints(node, 3);
  if (pads.size() != 2 * axes.size())
    throw UserError("{} pads for {} dimensions, expected {}", pads.size(), axes.size(), 2 * axes.size());
  Padding padding{std::vector<int64_t>(ndim), std::vector<int64_t>(ndim)};
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(checked_axis(axes[n], ndim));
    padding.before[axis] = pads[n], padding.after[axis] = pads[n + axes.size()];
  }
  return padding;
}

// What numbers below 0 take away goes first; they become 0.
Expr cropped(Importer& importer, const Node& node, const Expr& x, Padding* padding) {
  const relax::Shape shape = shape_of(node, x);
  relax::Shape axes, begin, end, steps;
  for (size_t n = 0; n < shape.size(); ++n) {
    const int64_t first = std::min<int64_t>(padding->before[n], 0),
                  last = std::min<int64_t>(padding->after[n], 0);
    if (first == 0 && last == 0) continue;
    axes.push_back(relax::extent_imm(static_cast<int64_t>(n)));
    begin.push_back(relax::extent_imm(-first));
    end.push_back(arith::simplify(tir::operator+(shape[n], last)));
    steps.push_back(relax::extent_imm(1));
    padding->before[n] -= first, padding->after[n] -= last;
  }
  if (axes.empty()) return x;
  return importer.bind(node, "relax.strided_slice",
                       {x, relax::shape_expr(axes), relax::shape_expr(begin), relax::shape_expr(end),
                        relax::shape_expr(steps)});
}

void pad(Importer& importer, const Node& node) {
  const std::string mode = string_attr(node, "mode", "constant");
  require_known_text("mode", mode, {"constant", "edge", "reflect", "wrap"});
  ir::ObjectRef value = attr(float_attr(node, "value", 0));
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    const std::vector<ir::PrimExpr> numbers = literals(importer, node, 2);
    if (!numbers.empty()) value = numbers[0];
  }
  Expr x = importer.value(node, 0);
  Padding padding = padding_of(importer, node, shape_of(node, x).size());
  x = cropped(importer, node, x, &padding);
  std::vector<int64_t> width;
  for (size_t n = 0; n < padding.before.size(); ++n) {
    width.push_back(padding.before[n]);
    width.push_back(padding.after[n]);
  }
  const bool is_same = std::all_of(width.begin(), width.end(), [](int64_t extent) { return extent == 0; });
  if (is_same) return importer.define(node.outputs.at(0), x);
  importer.emit(node, "relax.nn.pad", {x},
                {{"pad_width", attr(width)},
                 {"pad_mode", attr(mode == "edge"   ? "replicate"
                                   : mode == "wrap" ? "circular"
                                                    : mode)},
                 {"pad_value", value}});
}

// ---- parts

// The extents of the pieces: given, or equal but for the last.
std::vector<int64_t> piece_sizes(Importer& importer, const Node& node, const ir::PrimExpr& whole) {
  if (node.find("split")) return ints_attr(node, "split", {});
  if (node.inputs.size() > 1 && !node.inputs[1].empty()) return importer.require_ints(node, 1);
  const auto count = static_cast<int64_t>(node.outputs.size());
  int64_t extent;
  if (!tir::as_const_int(whole, &extent))
    throw Unsupported("the extent that is split is known only at run time");
  const int64_t size = (extent + count - 1) / count;
  std::vector<int64_t> sizes(node.outputs.size(), size);
  sizes.back() = extent - size * (count - 1);
  if (sizes.back() < 0) throw UserError("an extent of {} is split into {}", extent, count);
  return sizes;
}

void split(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, x);
  const int64_t axis = checked_axis(int_attr(node, "axis", 0), shape.size());
  const ir::PrimExpr& whole = shape[static_cast<size_t>(axis)];
  const std::vector<int64_t> sizes = piece_sizes(importer, node, whole);
  int64_t extent, total = 0;
  std::vector<int64_t> starts;
  for (int64_t size : sizes) {
    if (size < 0) throw UserError("the size of a piece is {}", size);
    starts.push_back(total += size);
  }
  if (sizes.size() != node.outputs.size() || (tir::as_const_int(whole, &extent) && total != extent))
    throw UserError("pieces of {} elements in all for {} outputs of an extent of {}", total,
                    node.outputs.size(), relax::extent_text(whole));
  starts.pop_back();
  if (starts.empty()) return importer.pass_on(node);
  importer.define_fields(node, importer.bind(node, "relax.split", {x},
                                             {{"indices_or_sections", attr(starts)}, {"axis", attr(axis)}}));
}

void gather_elements(Importer& importer, const Node& node) {
  importer.emit(node, "relax.gather_elements", {importer.value(node, 0), importer.value(node, 1)},
                {{"axis", attr(int_attr(node, "axis", 0))}});
}

void gather_nd(Importer& importer, const Node& node) {
  importer.emit(node, "relax.gather_nd", {importer.value(node, 0), importer.value(node, 1)},
                {{"batch_dims", attr(int_attr(node, "batch_dims", 0))}});
}

std::string reduction_of(const Node& node) {
  const std::string reduction = string_attr(node, "reduction", "none");
  require_known_text("reduction", reduction, {"none", "add", "mul", "max", "min"});
  return reduction == "none" ? "update" : reduction;
}

void scatter_elements(Importer& importer, const Node& node) {
  importer.emit(node, "relax.scatter_elements",
                {importer.value(node, 0), importer.value(node, 1), importer.value(node, 2)},
                {{"axis", attr(int_attr(node, "axis", 0))}, {"reduction", attr(reduction_of(node))}});
}

void scatter_nd(Importer& importer, const Node& node) {
  importer.emit(node, "relax.scatter_nd",
                {importer.value(node, 0), importer.value(node, 1), importer.value(node, 2)},
                {{"reduction", attr(reduction_of(node))}});
}

void top_k(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  int64_t k = int_attr(node, "k", 0);
  if (!node.find("k")) {
    const std::vector<int64_t> given = importer.require_ints(node, 1);
    if (given.size() != 1) throw UserError("k has {} elements, expected 1", given.size());
    k = given[0];
  }
  if (k < 1) throw UserError("k is {}, expected at least 1", k);
  importer.define_fields(node, importer.bind(node, "relax.topk", {x},
                                             {{"k", attr(k)},
                                              {"axis", attr(int_attr(node, "axis", -1))},
                                              {"ret_type", attr("both")},
                                              {"largest", attr(int_attr(node, "largest", 1) != 0)},
                                              {"dtype", attr("int64")}}));
}

// ---- pixels and channels

/// [n, c, h, w]; the extents that are divided must be multiples of b.
struct Picture {
  Importer& importer;
  const Node& node;
  Expr x = importer.value(node, 0);
  relax::Shape shape = shape_of(node, x);
  int64_t b = int_attr(node, "blocksize", 1);

  ir::PrimExpr part(size_t axis, int64_t by) const {
    int64_t extent;
    if (tir::as_const_int(shape[axis], &extent) && extent % by != 0)
      throw UserError("dimension {} has extent {}, which is not a multiple of {}", axis, extent, by);
    return arith::simplify(tir::floordiv(shape[axis], relax::extent_imm(by)));
  }
  ir::PrimExpr times(size_t axis, int64_t by) const {
    return arith::simplify(tir::operator*(shape[axis], by));
  }
  void moved(const relax::Shape& as, const std::vector<int64_t>& axes, const relax::Shape& result) const {
    const Expr apart = importer.reshaped(node, x, as);
    const Expr turned = importer.bind(node, "relax.permute_dims", {apart}, {{"axes", attr(axes)}});
    importer.define(node.outputs.at(0), importer.reshaped(node, turned, result));
  }
  void require_four() const {
    if (shape.size() != 4) throw UserError("input 0 has {} dimensions, expected 4", shape.size());
  }
};

void depth_to_space(Importer& importer, const Node& node) {
  const Picture p{importer, node};
  p.require_four();
  const std::string mode = string_attr(node, "mode", "DCR");
  require_known_text("mode", mode, {"DCR", "CRD"});
  const ir::PrimExpr b = relax::extent_imm(p.b), depth = p.part(1, p.b * p.b);
  const relax::Shape result{p.shape[0], depth, p.times(2, p.b), p.times(3, p.b)};
  if (mode == "DCR")
    p.moved({p.shape[0], b, b, depth, p.shape[2], p.shape[3]}, {0, 3, 4, 1, 5, 2}, result);
  else
    p.moved({p.shape[0], depth, b, b, p.shape[2], p.shape[3]}, {0, 1, 4, 2, 5, 3}, result);
}

void space_to_depth(Importer& importer, const Node& node) {
  const Picture p{importer, node};
  p.require_four();
  const std::string mode = string_attr(node, "mode", "DCR");
  require_known_text("mode", mode, {"DCR", "CRD"});
  const ir::PrimExpr b = relax::extent_imm(p.b), height = p.part(2, p.b), width = p.part(3, p.b);
  p.moved({p.shape[0], p.shape[1], height, b, width, b},
          mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 5, 2, 4},
          {p.shape[0], p.times(1, p.b * p.b), height, width});
}

void cumulative_sum(Importer& importer, const Node& node) {
  const std::vector<int64_t> axis = importer.require_ints(node, 1);
  if (axis.size() != 1) throw UserError("axis has {} elements, expected 1", axis.size());
  importer.emit(node, "relax.cumsum", {importer.value(node, 0)},
                {{"axis", attr(axis[0])},
                 {"exclusive", attr(int_attr(node, "exclusive", 0) != 0)},
                 {"reverse", attr(int_attr(node, "reverse", 0) != 0)}});
}

void einsum(Importer& importer, const Node& node) {
  std::vector<Expr> operands;
  for (size_t n = 0; n < node.inputs.size(); ++n) operands.push_back(importer.value(node, n));
  importer.emit(node, "relax.einsum", {relax::TupleNode::make(operands)},
                {{"subscripts", attr(string_attr(node, "equation", ""))}});
}

void reverse_sequence(Importer& importer, const Node& node) {
  importer.emit(node, "relax.reverse_sequence", {importer.value(node, 0), importer.value(node, 1)},
                {{"seq_axis", attr(int_attr(node, "time_axis", 0))},
                 {"batch_axis", attr(int_attr(node, "batch_axis", 1))}});
}

constexpr ConverterRow kConverters[] = {
    {"CumSum", cumulative_sum},
    {"DepthToSpace", depth_to_space},
    {"Einsum", einsum},
    {"Expand", expand},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"Pad", pad},
    {"ReverseSequence", reverse_sequence},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"SpaceToDepth", space_to_depth},
    {"Split", split},
    {"Tile", tile},
    {"TopK", top_k},
};

}  // namespace

std::span<const ConverterRow> arrange_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx
