// Resizes tensors.  Source: onnx.ai/onnx/operators (Resize 10 to 19, Upsample 7 and 9).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/fraction.h"

namespace tilewright::frontend::onnx {
namespace {

/// A dimension that is resized.  A step of 1 in the result is a step of over / under in the input.
struct Line {
  int64_t axis;
  ir::PrimExpr from, to, over, under;
  double begin = 0, end = 1;  // the resized region, as fractions of the last index
};

std::vector<Line> lines_of(const Node& node, const relax::Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t axis : ints_attr(node, "axes", {})) axes.push_back(checked_axis(axis, shape.size()));
  for (size_t n = 0; !node.find("axes") && n < shape.size(); ++n) axes.push_back(static_cast<int64_t>(n));
  std::vector<Line> lines;
  for (int64_t axis : axes) {
    for (const Line& other : lines) {
      if (other.axis == axis) throw UserError("axis {} is given twice", axis);
    }
    const ir::PrimExpr& extent = shape[static_cast<size_t>(axis)];
    lines.push_back({axis, extent, extent, extent, extent});
  }
  return lines;
}

// The extent is computed from all elements, even if only a region of them is resized: onnx's reference
// evaluator, its shape inference and onnxruntime do so, against the operator's specification.
void scale_by(const std::vector<double>& scales, std::vector<Line>* lines) {
  if (scales.size() != lines->size())
    throw UserError("{} scales for {}", scales.size(), count_text(lines->size(), "dimension"));
  for (size_t n = 0; n < scales.size(); ++n) {
    Line& line = (*lines)[n];
    if (!(scales[n] > 0) || scales[n] > 2147483647.0)
      throw UserError("a scale of {}, expected one above 0", scales[n]);
    // 0.6f stands for 3/5, so that 5 elements become 3, and positions exactly between two elements are
    // recognised
    const Fraction scale = simplest_fraction(scales[n]);
    if (scale.over == 0) throw UserError("a scale of {}, expected one above 0", scales[n]);
    line.over = relax::extent_imm(scale.under), line.under = relax::extent_imm(scale.over);
    line.to = arith::simplify(tir::floordiv(tir::operator*(line.from, scale.over), scale.under));
    int64_t from, to;
    if (tir::as_const_int(line.to, &to) && tir::as_const_int(line.from, &from) &&
        ((to < 1 && from > 0) || to > 2147483647))
      throw UserError("a scale of {} makes {} elements of {}", scales[n], to, from);
  }
}

// Sets the extents of `lines` by a single scale, the smallest or largest of those requested; halves are
// rounded up.
void keep_aspect(bool is_largest, std::vector<Line>* lines) {
  ir::PrimExpr over = (*lines)[0].from, under = (*lines)[0].to;
  for (size_t n = 1; n < lines->size(); ++n) {
    const Line& line = (*lines)[n];
    const ir::PrimExpr mine = tir::operator*(line.to, over), best = tir::operator*(under, line.from);
    const ir::PrimExpr is_better =
        tir::cast(kInt64, is_largest ? tir::operator<(best, mine) : tir::operator<(mine, best));
    const auto chosen = [&](const ir::PrimExpr& old, const ir::PrimExpr& other) {
      return arith::simplify(tir::operator+(old, tir::operator*(tir::operator-(other, old), is_better)));
    };
    over = chosen(over, line.from);
    under = chosen(under, line.to);
  }
  for (Line& line : *lines) {
    line.over = over, line.under = under;
    const ir::PrimExpr twice = tir::operator*(over, 2);
    line.to = arith::simplify(
        tir::floordiv(tir::operator+(tir::operator*(tir::operator*(line.from, under), 2), over), twice));
  }
}

void size_to(const Node& node, const relax::Shape& sizes, std::vector<Line>* lines) {
  if (sizes.size() != lines->size())
    throw UserError("{} sizes for {}", sizes.size(), count_text(lines->size(), "dimension"));
  const std::string policy = string_attr(node, "keep_aspect_ratio_policy", "stretch");
  require_known_text("keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"});
  for (size_t n = 0; n < sizes.size(); ++n) {
    int64_t size;
    if (tir::as_const_int(sizes[n], &size) && size < 0)
      throw UserError("size {} is {}, expected at least 0", n, size);
    (*lines)[n].to = (*lines)[n].under = sizes[n];
  }
  if (policy != "stretch" && !lines->empty()) keep_aspect(policy == "not_smaller", lines);
}

// roi: the starts of all dimensions, then their ends
void crop_to(const std::vector<double>& roi, std::vector<Line>* lines) {
  if (roi.size() != 2 * lines->size())
    throw UserError("{} numbers in roi for {}, expected {}", roi.size(),
                    count_text(lines->size(), "dimension"), 2 * lines->size());
  for (size_t n = 0; n < lines->size(); ++n)
    (*lines)[n].begin = roi[n], (*lines)[n].end = roi[n + lines->size()];
}

bool is_unchanged(const Line& line) {
  const auto same = [](const ir::PrimExpr& a, const ir::PrimExpr& b) {
    return relax::equal_extents(a, b) == relax::Answer::kYes;
  };
  return same(line.from, line.to) && same(line.over, line.under) && line.begin == 0 && line.end == 1;
}

// ---- calls

Expr resized(Importer& importer, const Node& node, const Expr& x, const std::vector<Line>& lines,
             std::string_view op, ir::AttrMap attrs) {
  std::vector<int64_t> axes;
  std::vector<ir::ObjectRef> begins, ends;
  relax::Shape size, steps;
  for (const Line& line : lines) {
    axes.push_back(line.axis);
    begins.push_back(attr(line.begin));
    ends.push_back(attr(line.end));
    size.push_back(line.to);
    steps.push_back(line.over);
    steps.push_back(line.under);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  attrs.set("axes", attr(axes));
  if (attrs.get_string("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    attrs.set("roi", ir::ArrayNode::make(std::move(begins)));
  return importer.bind(node, op, {x, relax::shape_expr(size), relax::shape_expr(steps)}, std::move(attrs));
}

bool may_shrink(const Line& line) {
  return !arith::Analyzer().can_prove(tir::operator<=(line.over, line.under));
}

// Resizes several dimensions at once as long as few elements are combined; dimensions that antialiasing
// shrinks are resized one by one.  Intermediate values are float32 or wider.
void resize_lines(Importer& importer, const Node& node, std::vector<Line> lines, bool is_smooth,
                  const ir::AttrMap& attrs) {
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_unchanged), lines.end());
  if (lines.empty()) return importer.pass_on(node);
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.axis < b.axis; });
  const std::string method = attrs.get_string("method", "");
  const size_t most = method == "cubic" ? 2 : method == "linear" ? 3 : lines.size();
  std::vector<std::vector<Line>> groups;
  std::vector<bool> smooth;
  for (const Line& line : lines) {
    const bool is_single = is_smooth && method != "nearest_neighbor" && may_shrink(line);
    if (is_single || groups.empty() || smooth.back() || groups.back().size() == most)
      groups.emplace_back(), smooth.push_back(is_single);
    groups.back().push_back(line);
  }
  Expr x = importer.value(node, 0);
  const DataType dtype = relax::dtype_of(x);
  const bool is_rounded = groups.size() > 1 && dtype != kFloat32 && dtype != kFloat64;
  const DataType between = dtype.bits > 16 ? kFloat64 : kFloat32;
  if (is_rounded) x = importer.builder.emit(converted(x, between));
  for (size_t n = 0; n < groups.size(); ++n)
    x = resized(importer, node, x, groups[n],
                smooth[n] ? "relax.image.resize_antialias" : "relax.image.resize", attrs);
  if (is_rounded && !dtype.is_float()) x = importer.bind(node, "relax.round", {x});
  importer.define(node.outputs.at(0), is_rounded ? importer.builder.emit(converted(x, dtype)) : x);
}

std::string method_of(const Node& node) {
  const std::string mode = string_attr(node, "mode", "nearest");
  require_known_text("mode", mode, {"nearest", "linear", "cubic"});
  return mode == "nearest" ? "nearest_neighbor" : mode;
}

void resize(Importer& importer, const Node& node) {
  const std::string coordinates =
      string_attr(node, "coordinate_transformation_mode", importer.opset < 11 ? "asymmetric" : "half_pixel");
  require_known_text("coordinate_transformation_mode", coordinates,
                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  const std::string nearest =
      string_attr(node, "nearest_mode", importer.opset < 11 ? "floor" : "round_prefer_floor");
  require_known_text("nearest_mode", nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  std::vector<Line> lines = lines_of(node, shape_of(node, importer.value(node, 0)));
  if (coordinates == "tf_crop_and_resize") crop_to(importer.require_numbers(node, 1), &lines);
  if (importer.has_input(node, 3))
    size_to(node, importer.require_known(node, 3), &lines);
  else
    scale_by(importer.require_numbers(node, importer.opset < 11 ? 1 : 2), &lines);
  resize_lines(importer, node, std::move(lines), int_attr(node, "antialias", 0) != 0,
               {{"method", attr(method_of(node))},
                {"coordinate_transformation_mode", attr(coordinates)},
                {"rounding_method", attr(nearest)},
                {"cubic_alpha", attr(float_attr(node, "cubic_coeff_a", -0.75))},
                {"cubic_exclude", attr(int_attr(node, "exclude_outside", 0) != 0)},
                {"extrapolation_value", attr(float_attr(node, "extrapolation_value", 0))}});
}

void upsample(Importer& importer, const Node& node) {
  std::vector<Line> lines = lines_of(node, shape_of(node, importer.value(node, 0)));
  std::vector<double> scales;
  if (const Attribute* given = node.find("scales"))
    scales.assign(given->numbers.begin(), given->numbers.end());
  else
    scales = importer.require_numbers(node, 1);
  scale_by(scales, &lines);
  resize_lines(importer, node, std::move(lines), false,
               {{"method", attr(method_of(node))},
                {"coordinate_transformation_mode", attr("asymmetric")},
                {"rounding_method", attr("floor")}});
}

constexpr AttributeRule kResize[] = {
    flag("antialias", 18),
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, 18},
    {"coordinate_transformation_mode", Attribute::kString, kAnyLeast, kAnyMost, 11},
    {"cubic_coeff_a", Attribute::kFloat, kAnyLeast, kAnyMost, 11},
    flag("exclude_outside", 11),
    {"extrapolation_value", Attribute::kFloat, kAnyLeast, kAnyMost, 11},
    {"keep_aspect_ratio_policy", Attribute::kString, kAnyLeast, kAnyMost, 18},
    {"mode", Attribute::kString},
    {"nearest_mode", Attribute::kString, kAnyLeast, kAnyMost, 11}};
constexpr AttributeRule kUpsample[] = {
    {"mode", Attribute::kString}, {"scales", Attribute::kFloats, kAnyLeast, kAnyMost, kFirstOpset, 8, true}};

constexpr ConverterRow kRows[] = {
    {"Resize", resize, 2, 2, kResize, 1, 10, 10},
    {"Resize", resize, 3, 4, kResize, 1, 11, 12},
    {"Resize", resize, 1, 4, kResize, 1, 13},
    {"Upsample", upsample, 1, 1, kUpsample, 1, kFirstOpset, 8},
    {"Upsample", upsample, 2, 2, kUpsample, 1, 9, 9},
};

}  // namespace

extern constinit const ConverterTable resize_info = {kRows};

}  // namespace tilewright::frontend::onnx
