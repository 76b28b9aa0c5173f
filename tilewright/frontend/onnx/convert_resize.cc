// Pictures of another size.  Source: onnx.ai/onnx/operators (Resize 10 to 19, Upsample 7 and 9).
#include <cmath>

#include "tilewright/frontend/onnx/convert.h"

namespace tilewright::frontend::onnx {
namespace {

/// The part of a dimension that is resized: begin and end in parts of its last index.
struct Part {
  double begin = 0, end = 1;
};
/// Of all dimensions: extents before, and after; what is resized of them, none: all.
struct Extents {
  std::vector<int64_t> before, after;
  std::vector<Part> parts;
};

std::vector<int64_t> constant_extents(const relax::Shape& shape) {
  std::vector<int64_t> extents;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!tir::as_const_int(shape[axis], &extents.emplace_back()))
      throw Unsupported("dimension {} is known only at run time", axis);
  }
  return extents;
}

std::vector<int64_t> resized_axes(const Node& node, size_t ndim) {
  std::vector<int64_t> axes;
  for (int64_t axis : ints_attr(node, "axes", {})) axes.push_back(checked_axis(axis, ndim));
  for (size_t n = 0; axes.empty() && n < ndim; ++n) axes.push_back(static_cast<int64_t>(n));
  if (!node.find("axes") && axes.size() != ndim) {
    axes.clear();
    for (size_t n = 0; n < ndim; ++n) axes.push_back(static_cast<int64_t>(n));
  }
  return axes;
}

// The extent is that of all elements, even where a part of them is resized: so do onnx's own evaluator, its
// shape inference and onnxruntime, against the operator's text.
void scale_by(const std::vector<double>& scales, const std::vector<int64_t>& axes, Extents* extents) {
  if (scales.size() != axes.size())
    throw UserError("{} scales for {} dimensions", scales.size(), axes.size());
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(axes[n]);
    const double extent = static_cast<double>(extents->before[axis]) * scales[n];
    if (!(extent >= 1) || extent > 2147483647.0)
      throw UserError("a scale of {} makes {} elements of {}", scales[n], extent, extents->before[axis]);
    // places are computed from the extents, which must say the same as the scale
    if (std::abs(extent - std::round(extent)) > 1e-4 * extent)
      throw Unsupported("a scale of {} for an extent of {}: the result has no whole extent", scales[n],
                        extents->before[axis]);
    extents->after[axis] = std::llround(extent);
  }
}

void size_to(const Node& node, const std::vector<int64_t>& sizes, const std::vector<int64_t>& axes,
             Extents* extents) {
  if (sizes.size() != axes.size()) throw UserError("{} sizes for {} dimensions", sizes.size(), axes.size());
  const std::string policy = string_attr(node, "keep_aspect_ratio_policy", "stretch");
  require_known_text("keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"});
  if (policy != "stretch") throw Unsupported("keep_aspect_ratio_policy is \"{}\"", policy);
  for (size_t n = 0; n < axes.size(); ++n) extents->after[static_cast<size_t>(axes[n])] = sizes[n];
}

// roi: begins of `axes`, then their ends
void crop_to(const std::vector<double>& roi, const std::vector<int64_t>& axes, Extents* extents) {
  if (roi.size() != 2 * axes.size())
    throw UserError("{} numbers in roi for {} dimensions, expected {}", roi.size(), axes.size(),
                    2 * axes.size());
  extents->parts.resize(extents->before.size());
  for (size_t n = 0; n < axes.size(); ++n)
    extents->parts[static_cast<size_t>(axes[n])] = {roi[n], roi[n + axes.size()]};
}

bool is_unchanged(const Extents& extents, size_t axis) {
  const Part part = extents.parts.empty() ? Part() : extents.parts[axis];
  return extents.before[axis] == extents.after[axis] && part.begin == 0 && part.end == 1;
}

void resize_to(Importer& importer, const Node& node, const Extents& extents, ir::AttrMap attrs) {
  const size_t ndim = extents.before.size();
  size_t unchanged = 0;
  while (unchanged < ndim && is_unchanged(extents, unchanged)) ++unchanged;
  if (unchanged == ndim) return importer.pass_on(node);
  if ((ndim != 4 && ndim != 5) || unchanged < 2)
    throw Unsupported(
        "only height and width of [n, c, h, w], and depth too of [n, c, d, h, w], can be resized");
  const std::vector<int64_t>& after = extents.after;
  if (!extents.parts.empty()) {
    std::vector<ir::ObjectRef> roi;
    for (size_t axis = 2; axis < ndim; ++axis) roi.push_back(attr(extents.parts[axis].begin));
    for (size_t axis = 2; axis < ndim; ++axis) roi.push_back(attr(extents.parts[axis].end));
    attrs.set("roi", ir::ArrayNode::make(std::move(roi)));
  }
  const relax::Shape size = relax::extents({after.begin() + 2, after.end()});
  importer.emit(node, ndim == 4 ? "relax.image.resize2d" : "relax.image.resize3d",
                {importer.value(node, 0), relax::shape_expr(size)}, std::move(attrs));
}

std::string method_of(const Node& node) {
  const std::string mode = string_attr(node, "mode", "nearest");
  require_known_text("mode", mode, {"nearest", "linear", "cubic"});
  return mode == "nearest" ? "nearest_neighbor" : mode;
}

void resize(Importer& importer, const Node& node) {
  if (int_attr(node, "antialias", 0)) throw Unsupported("antialias is 1");
  const std::string coordinates =
      string_attr(node, "coordinate_transformation_mode", importer.opset < 11 ? "asymmetric" : "half_pixel");
  require_known_text("coordinate_transformation_mode", coordinates,
                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  const std::string nearest =
      string_attr(node, "nearest_mode", importer.opset < 11 ? "floor" : "round_prefer_floor");
  require_known_text("nearest_mode", nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  Extents extents{constant_extents(shape_of(node, importer.value(node, 0))), {}, {}};
  extents.after = extents.before;
  const std::vector<int64_t> axes = resized_axes(node, extents.before.size());
  if (coordinates == "tf_crop_and_resize") crop_to(importer.require_numbers(node, 1), axes, &extents);
  const size_t scales = importer.opset < 11 ? 1 : 2;
  if (node.inputs.size() > 3 && !node.inputs[3].empty())
    size_to(node, importer.require_ints(node, 3), axes, &extents);
  else
    scale_by(importer.require_numbers(node, scales), axes, &extents);
  resize_to(importer, node, extents,
            {{"method", attr(method_of(node))},
             {"coordinate_transformation_mode", attr(coordinates)},
             {"rounding_method", attr(nearest)},
             {"cubic_alpha", attr(float_attr(node, "cubic_coeff_a", -0.75))},
             {"cubic_exclude", attr(int_attr(node, "exclude_outside", 0) != 0)},
             {"extrapolation_value", attr(float_attr(node, "extrapolation_value", 0))}});
}

void upsample(Importer& importer, const Node& node) {
  Extents extents{constant_extents(shape_of(node, importer.value(node, 0))), {}, {}};
  extents.after = extents.before;
  std::vector<double> scales;
  if (const Attribute* given = node.find("scales"))
    scales.assign(given->numbers.begin(), given->numbers.end());
  else
    scales = importer.require_numbers(node, 1);
  scale_by(scales, resized_axes(node, extents.before.size()), &extents);
  resize_to(importer, node, extents,
            {{"method", attr(method_of(node))},
             {"coordinate_transformation_mode", attr("asymmetric")},
             {"rounding_method", attr("floor")}});
}

constexpr ConverterRow kConverters[] = {{"Resize", resize}, {"Upsample", upsample}};

}  // namespace

std::span<const ConverterRow> resize_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx
