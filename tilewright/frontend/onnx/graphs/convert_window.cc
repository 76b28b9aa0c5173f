#include "tilewright/frontend/onnx/graphs/convert_window.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {

std::vector<int64_t> numbers_attr(const Node& node, std::string_view name, size_t count, int64_t otherwise) {
  const std::vector<int64_t> numbers = ints_attr(node, name, std::vector<int64_t>(count, otherwise));
  if (numbers.size() != count)
    throw UserError("attribute \"{}\" has {}, expected {}", name, count_text(numbers.size(), "number"),
                    count);
  return numbers;
}

Window window_of(const Node& node, std::vector<int64_t> kernel) {
  const size_t count = kernel.size();
  return {std::move(kernel), numbers_attr(node, "strides", count, 1),
          numbers_attr(node, "dilations", count, 1)};
}

size_t num_spatial_of(const relax::Shape& shape, std::string_view what) {
  if (shape.size() < 3 || shape.size() > 5)
    throw Unsupported("the {} has {}, expected 3 to 5 ([n, c, ...])", what,
                      count_text(shape.size(), "dimension"));
  return shape.size() - 2;
}

std::string op_for(std::string_view stem, size_t num_spatial, std::string_view ending) {
  return fmt::format("relax.nn.{}{}d{}", stem, num_spatial, ending);
}

std::string auto_pad_of(const Node& node) {
  const std::string mode = string_attr(node, "auto_pad", "NOTSET");
  require_known_text("auto_pad", mode, {"NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"});
  return mode;
}

std::vector<int64_t> halved(const std::vector<int64_t>& total, bool is_lower) {
  std::vector<int64_t> pads(2 * total.size());
  for (size_t n = 0; n < total.size(); ++n) {
    const int64_t smaller = total[n] / 2, larger = total[n] - smaller;
    pads[n] = is_lower ? larger : smaller;
    pads[n + total.size()] = is_lower ? smaller : larger;
  }
  return pads;
}

namespace {

// The padding that SAME adds to `extent` elements, so that the windows of ceil(extent / stride) outputs lie
// within.
ir::PrimExpr same_total(const ir::PrimExpr& extent, int64_t stride, int64_t covered) {
  const ir::PrimExpr missing =
      stride == 1 ? relax::extent_imm(0)
                  : tir::floormod(tir::operator-(relax::extent_imm(0), extent), relax::extent_imm(stride));
  return arith::simplify(
      tir::max(tir::operator+(missing, relax::extent_imm(covered - stride)), relax::extent_imm(0)));
}

// The part of `total` that comes before; an odd element is among it with SAME_LOWER.
ir::PrimExpr half_before(const ir::PrimExpr& total, bool is_lower) {
  return arith::simplify(tir::floordiv(is_lower ? tir::operator+(total, int64_t{1}) : total, int64_t{2}));
}

// All paddings before, then all after: [top, left, bottom, right].  Nullopt if they depend on symbolic
// extents.
std::optional<std::vector<int64_t>> fixed_padding(const Node& node, const relax::Shape& data,
                                                  const Window& window) {
  const std::string mode = auto_pad_of(node);
  const size_t count = window.num_spatial();
  if (mode == "VALID") return std::vector<int64_t>(2 * count);
  if (mode == "NOTSET") return numbers_attr(node, "pads", 2 * count, 0);
  std::vector<int64_t> total(count);
  for (size_t axis = 0; axis < count; ++axis) {
    const ir::PrimExpr added = same_total(data.at(axis + 2), window.strides[axis], window.covered(axis));
    if (!tir::as_const_int(added, &total[axis])) return std::nullopt;
  }
  return halved(total, mode == "SAME_LOWER");
}

}  // namespace

relax::Shape padding_before(const Node& node, const relax::Shape& data, const Window& window) {
  relax::Shape before;
  const auto fixed = fixed_padding(node, data, window);
  for (size_t axis = 0; axis < window.num_spatial(); ++axis)
    before.push_back(fixed
                         ? relax::extent_imm((*fixed)[axis])
                         : half_before(same_total(data[axis + 2], window.strides[axis], window.covered(axis)),
                                       auto_pad_of(node) == "SAME_LOWER"));
  return before;
}

// Pads by the maximum that may be needed, then takes a slice.
Expr with_open_padding(Importer& importer, const Node& node, const Expr& data, const OpenPadding& open,
                       double fill) {
  std::vector<int64_t> width(4);  // zeros for batch and channels
  relax::Shape axes, begin, end, steps;
  for (size_t n = 0; n < open.size.size(); ++n) {
    width.push_back(open.most_before[n]);
    width.push_back(open.most_after[n]);
    axes.push_back(relax::extent_imm(static_cast<int64_t>(n) + 2));
    begin.push_back(arith::simplify(tir::operator-(relax::extent_imm(open.most_before[n]), open.before[n])));
    end.push_back(tir::operator+(begin.back(), open.size[n]));
    steps.push_back(relax::extent_imm(1));
  }
  const Expr wide =
      importer.bind(node, "relax.nn.pad", {data}, {{"pad_width", attr(width)}, {"pad_value", attr(fill)}});
  return importer.bind(node, "relax.strided_slice",
                       {wide, relax::shape_expr(axes), relax::shape_expr(begin), relax::shape_expr(end),
                        relax::shape_expr(steps)},
                       {{"assume_inbound", attr(true)}});
}

// SAME for symbolic extents: pads to ceil(extent / stride) * stride elements plus the overhang of windows, so
// that the extent of the result is ceil(extent / stride) in every comparison.
Padded padded(Importer& importer, const Node& node, const Expr& data, const Window& window, double fill) {
  const relax::Shape& shape = shape_of(node, data);
  if (auto fixed = fixed_padding(node, shape, window)) return {data, *std::move(fixed)};
  const bool is_lower = auto_pad_of(node) == "SAME_LOWER";
  OpenPadding open;
  for (size_t axis = 0; axis < window.num_spatial(); ++axis) {
    const int64_t stride = window.strides[axis], covered = window.covered(axis);
    const int64_t beyond = std::max<int64_t>(covered - stride, 0);
    open.before.push_back(half_before(same_total(shape[axis + 2], stride, covered), is_lower));
    open.most_before.push_back(is_lower ? covered / 2 : (covered - 1) / 2);
    open.most_after.push_back(stride - 1 + beyond);
    const ir::PrimExpr outputs = tir::floordiv(tir::operator+(shape[axis + 2], stride - 1), stride);
    open.size.push_back(arith::simplify(tir::operator+(tir::operator*(outputs, stride), beyond)));
  }
  return {with_open_padding(importer, node, data, open, fill),
          std::vector<int64_t>(2 * window.num_spatial())};
}

}  // namespace tilewright::frontend::onnx
