// Boxes: suppression of boxes that overlap a better one, decoding of detector outputs, and regions of images.
#include "tilewright/te/topi/boxes.h"

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void require_float32(const Call& call, size_t n) {
  const TensorTypeNode* type = tensor_arg(call, n);
  if (!type->dtype.is_void() && type->dtype != kFloat32)
    fail(call, "{} is {}, expected float32", arg_name(call, n), short_text(type));
}
void require_extent(const Call& call, size_t n, size_t dim, int64_t extent, Requirements& require) {
  const Shape* shape = known_shape(tensor_arg(call, n));
  if (shape)
    require.equal((*shape)[dim], extent_imm(extent), "{} is {}, expected extent {} in dimension {}",
                  arg_name(call, n), *shape, extent, dim);
}

struct AllClassAttrs {
  int64_t max_output_boxes_per_class = INT64_MAX;
  double iou_threshold = 0.5, score_threshold = 0;
  std::string output_format = "onnx";
  static constexpr auto fields() {
    return std::tuple{
        field<&AllClassAttrs::max_output_boxes_per_class>("max_output_boxes_per_class",
                                                          "upper limit of boxes"),
        field<&AllClassAttrs::iou_threshold>("iou_threshold", "overlap above which the worse box is dropped"),
        field<&AllClassAttrs::score_threshold>("score_threshold", "boxes up to this score are dropped"),
        field<&AllClassAttrs::output_format>("output_format", "\"onnx\"")};
  }
};
Type infer_all_class(const Call& call, const AllClassAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 2; ++n) {
    require_ndim(call, n, 3);
    require_float32(call, n);
  }
  require_extent(call, 0, 2, 4, require);
  if (attrs.output_format != "onnx")
    throw Unsupported(call, "{}: output_format \"{}\"", name_of(call), attrs.output_format)
        .help("use \"onnx\"");
  const Shape *boxes = known_shape(tensor_arg(call, 0)), *scores = known_shape(tensor_arg(call, 1));
  const Type count = tensor_type({extent_imm(1)}, kInt64);
  if (!boxes || !scores) return tuple_type({tensor_type_of_ndim(2, kInt64), count});
  require.equal(Shape{(*boxes)[0], (*boxes)[1]}, Shape{(*scores)[0], (*scores)[2]},
                "boxes is {}, but scores is {}", *boxes, *scores);
  return tuple_type({tensor_type({num_elements(*scores), extent_imm(3)}, kInt64), count});
}

struct SelectAttrs {
  bool center_point_box = false;
  static constexpr auto fields() {
    return std::tuple{field<&SelectAttrs::center_point_box>(
        "center_point_box", "boxes are (x, y, width, height) of their centers, else two opposite corners")};
  }
};
void require_scalar(const Call& call, size_t n, DataType dtype) {
  require_ndim(call, n, 0);
  const TensorTypeNode* type = tensor_arg(call, n);
  if (!type->dtype.is_void() && type->dtype != dtype)
    fail(call, "{} is {}, expected {}", arg_name(call, n), short_text(type), dtype.str());
}
Type infer_select_boxes(const Call& call, const SelectAttrs&, Requirements& require) {
  for (size_t n = 0; n < 2; ++n) {
    require_ndim(call, n, 3);
    require_float32(call, n);
  }
  require_extent(call, 0, 2, 4, require);
  require_scalar(call, 2, kInt64);
  for (size_t n = 3; n < call->args.size(); ++n) require_scalar(call, n, kFloat32);
  const Shape *boxes = known_shape(tensor_arg(call, 0)), *scores = known_shape(tensor_arg(call, 1));
  if (boxes && scores)
    require.equal(Shape{(*boxes)[0], (*boxes)[1]}, Shape{(*scores)[0], (*scores)[2]},
                  "boxes is {}, but scores is {}", *boxes, *scores);
  return tensor_type_of_ndim(2, kInt64);
}

struct CountAttrs {
  double score_threshold = 0;
  int64_t id_index = 0, score_index = 1;
  static constexpr auto fields() {
    return std::tuple{
        field<&CountAttrs::score_threshold>("score_threshold", "boxes up to this score do not count"),
        field<&CountAttrs::id_index>("id_index", "position of the class in a row; negative: none"),
        field<&CountAttrs::score_index>("score_index", "position of the score in a row")};
  }
};
// Checks that `index` is a position in the rows of data; returns if their length is unknown.
void require_in_row(const Call& call, std::string_view name, int64_t index, int64_t length = 1) {
  const Shape* shape = known_shape(tensor_arg(call, 0));
  const auto* width = shape ? (*shape)[2].as<IntImmNode>() : nullptr;
  if (!width)
    throw Unsupported(call, "{}: the length of the rows of data is known only at run time", name_of(call));
  if (index < 0 || index + length > width->value)
    fail(call, "{} is {}, which is outside of rows of {}", name, index, width->value);
}
Type infer_valid_counts(const Call& call, const CountAttrs& attrs) {
  require_ndim(call, 0, 3);
  require_float32(call, 0);
  require_in_row(call, "score_index", attrs.score_index);
  if (attrs.id_index >= 0) require_in_row(call, "id_index", attrs.id_index);
  const Shape& shape = *known_shape(tensor_arg(call, 0));
  return tuple_type({tensor_type({shape[0]}, kInt32), Type(tensor_arg(call, 0)),
                     tensor_type({shape[0], shape[1]}, kInt32)});
}

struct SuppressAttrs {
  int64_t max_output_size = -1;
  double iou_threshold = 0.5;
  bool force_suppress = false;
  int64_t top_k = -1, coord_start = 2, score_index = 1, id_index = 0;
  bool return_indices = true, invalid_to_bottom = false;
  double soft_nms_sigma = 0, score_threshold = 0;
  static constexpr auto fields() {
    using A = SuppressAttrs;
    return std::tuple{
        field<&A::max_output_size>("max_output_size", "upper limit of boxes; negative: none"),
        field<&A::iou_threshold>("iou_threshold", "overlap above which the worse box is dropped"),
        field<&A::force_suppress>("force_suppress", "whether boxes of other classes suppress too"),
        field<&A::top_k>("top_k", "number of best boxes to consider; negative: all"),
        field<&A::coord_start>("coord_start", "position of the four coordinates in a row"),
        field<&A::score_index>("score_index", "position of the score in a row"),
        field<&A::id_index>("id_index", "position of the class in a row; negative: none"),
        field<&A::return_indices>("return_indices", "whether to return positions, else rows"),
        field<&A::invalid_to_bottom>("invalid_to_bottom", "whether the rows that are kept come first"),
        field<&A::soft_nms_sigma>("soft_nms_sigma",
                                  "overlaps up to the threshold multiply scores by exp(-overlap^2 / (2 "
                                  "sigma)), and the rows come first among the results; 0: they do "
                                  "not"),
        field<&A::score_threshold>("score_threshold",
                                   "boxes whose reduced scores are up to this are dropped")};
  }
};
Type infer_suppress(const Call& call, const SuppressAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 3; ++n) require_ndim(call, n, n == 0 ? 3 : n == 1 ? 1 : 2);
  require_float32(call, 0);
  require_in_row(call, "coord_start", attrs.coord_start, 4);
  require_in_row(call, "score_index", attrs.score_index);
  if (attrs.id_index >= 0) require_in_row(call, "id_index", attrs.id_index);
  const Shape& shape = *known_shape(tensor_arg(call, 0));
  const Shape *counts = known_shape(tensor_arg(call, 1)), *places = known_shape(tensor_arg(call, 2));
  if (!counts || !places)
    throw Unsupported(call, "{}: the shapes of valid_count and indices are known only at run time",
                      name_of(call));
  require.equal(Shape{(*counts)[0], (*places)[0], (*places)[1]}, Shape{shape[0], shape[0], shape[1]},
                "data is {}, expected valid_count {} and indices {}", shape, Shape{shape[0]},
                Shape{shape[0], shape[1]});
  if (!(attrs.soft_nms_sigma >= 0))
    fail(call, "soft_nms_sigma is {}, expected at least 0", attrs.soft_nms_sigma);
  const Type rows = Type(tensor_arg(call, 0));
  if (!attrs.return_indices) return rows;
  const Type chosen = tensor_type({shape[0], shape[1]}, kInt32),
             number = tensor_type({shape[0], extent_imm(1)}, kInt32);
  return attrs.soft_nms_sigma > 0 ? tuple_type({rows, chosen, number}) : tuple_type({chosen, number});
}

// Checks the arguments of roi_align and roi_pool: images, regions [r, 5] of (image, x1, y1, x2, y2), the
// extents of results.
Type infer_regions(const Call& call, const std::vector<int64_t>& pooled_size, const std::string& layout,
                   Requirements& require) {
  require_ndim(call, 0, 4);
  require_ndim(call, 1, 2);
  for (size_t n = 0; n < 2; ++n) require_float32(call, n);
  require_extent(call, 1, 1, 5, require);
  if (layout != "NCHW" && layout != "NHWC")
    fail(call, "layout is \"{}\", expected \"NCHW\" or \"NHWC\"", layout);
  const bool is_square = pooled_size.size() == 1;
  if ((!is_square && pooled_size.size() != 2) || pooled_size[0] < 1 || pooled_size.back() < 1)
    fail(call, "pooled_size is [{}], expected height and width, at least 1", fmt::join(pooled_size, ", "));
  const Shape *images = known_shape(tensor_arg(call, 0)), *regions = known_shape(tensor_arg(call, 1));
  if (!images || !regions) return tensor_type_of_ndim(4, kFloat32);
  const size_t channel = layout == "NCHW" ? 1 : 3, spatial = layout == "NCHW" ? 2 : 1;
  for (size_t n = 0; n < 2; ++n) {
    require.holds(tir::operator>=(as_extent((*images)[spatial + n]), 1), "data is {}, which has no elements",
                  *images);
  }
  Shape result(4, (*regions)[0]);
  result[channel] = (*images)[channel];
  result[spatial] = extent_imm(pooled_size[0]);
  result[spatial + 1] = extent_imm(pooled_size.back());
  return tensor_type(std::move(result), kFloat32);
}

struct AlignAttrs {
  std::vector<int64_t> pooled_size;
  double spatial_scale = 1;
  int64_t sample_ratio = -1;
  bool aligned = false;
  std::string layout = "NCHW", mode = "avg";
  static constexpr auto fields() {
    using A = AlignAttrs;
    return std::tuple{
        field<&A::pooled_size>("pooled_size", "height and width of the results"),
        field<&A::spatial_scale>("spatial_scale",
                                 "factor of coordinates: extents of data / extents of the image"),
        field<&A::sample_ratio>("sample_ratio",
                                "samples per bin in each dimension; not positive: one per element"),
        field<&A::aligned>("aligned", "whether coordinates refer to centres of elements, half a step less"),
        field<&A::layout>("layout", "\"NCHW\" or \"NHWC\""),
        field<&A::mode>("mode",
                        "\"avg\" or \"max\" of the samples, or \"max_of_terms\": the largest of the four "
                        "elements around a sample times their weights, as ONNX")};
  }
};
Type infer_align(const Call& call, const AlignAttrs& attrs, Requirements& require) {
  constexpr int64_t kMostSamples = 1024;  // per bin and dimension; more would take forever
  if (attrs.sample_ratio > kMostSamples)
    fail(call, "sample_ratio is {}, expected at most {}", attrs.sample_ratio, kMostSamples);
  if (attrs.mode != "avg" && attrs.mode != "max" && attrs.mode != "max_of_terms")
    fail(call, "mode is \"{}\", expected \"avg\", \"max\" or \"max_of_terms\"", attrs.mode);
  return infer_regions(call, attrs.pooled_size, attrs.layout, require);
}

struct RegionAttrs {
  std::vector<int64_t> pooled_size;
  double spatial_scale = 1;
  std::string layout = "NCHW";
  static constexpr auto fields() {
    using A = RegionAttrs;
    return std::tuple{field<&A::pooled_size>("pooled_size", "height and width of the results"),
                      field<&A::spatial_scale>(
                          "spatial_scale", "factor of coordinates: extents of data / extents of the image"),
                      field<&A::layout>("layout", "\"NCHW\" or \"NHWC\"")};
  }
};
Type infer_roi_pool(const Call& call, const RegionAttrs& attrs, Requirements& require) {
  return infer_regions(call, attrs.pooled_size, attrs.layout, require);
}

struct MultiboxAttrs {
  bool clip = false;
  double threshold = 0;
  ObjectRef variances;
  bool keep_background = true, apply_softmax = true;
  static constexpr auto fields() {
    using A = MultiboxAttrs;
    return std::tuple{
        field<&A::clip>("clip", "whether boxes are cut off at 0 and 1"),
        field<&A::threshold>("threshold", "scores below it are 0"),
        field<&A::variances>("variances", "factors of offsets of x, y, width and height; none: 1"),
        field<&A::keep_background>("keep_background", "otherwise scores of class 0 are 0"),
        field<&A::apply_softmax>("apply_softmax", "whether cls_pred are logits, else they are scores")};
  }
};
std::vector<double> variances_of(const Call& call, const MultiboxAttrs& attrs) {
  return numbers_attr(call, "variances", attrs.variances, {1, 1, 1, 1});
}
Type infer_multibox(const Call& call, const MultiboxAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 3; ++n) require_ndim(call, n, n == 1 ? 2 : 3);
  const DataType dtype = common_dtype(call, 0, 1);
  common_dtype(call, 0, 2);
  if (!dtype.is_void() && !dtype.is_float())
    fail(call, "cls_pred is {}, expected a floating-point tensor", dtype.str());
  require_extent(call, 2, 0, 1, require);
  require_extent(call, 2, 2, 4, require);
  variances_of(call, attrs);
  const Shape *logits = known_shape(tensor_arg(call, 0)), *offsets = known_shape(tensor_arg(call, 1)),
              *anchors = known_shape(tensor_arg(call, 2));
  if (!logits || !offsets || !anchors)
    return tuple_type({tensor_type_of_ndim(3, dtype), tensor_type_of_ndim(3, dtype)});
  const Shape wanted{(*logits)[0], (*logits)[2] * extent_imm(4)};
  require.equal(*offsets, wanted, "loc_pred is {}, expected {} for cls_pred {}", *offsets, wanted, *logits);
  require.equal((*anchors)[1], (*logits)[2], "anchor is {}, but cls_pred is {}", *anchors, *logits);
  return tuple_type(
      {tensor_type({(*logits)[0], (*logits)[2], extent_imm(4)}, dtype), tensor_type(*logits, dtype)});
}
std::vector<te::Tensor> lower_multibox(const LowerInput& in, const MultiboxAttrs& attrs) {
  topi::MultiboxOptions options{.clip = attrs.clip, .threshold = attrs.threshold};
  std::copy_n(variances_of(in.call, attrs).begin(), 4, options.variances.begin());
  options.keep_background = attrs.keep_background;
  options.is_logits = attrs.apply_softmax;
  return {topi::multibox_boxes(in[1], in[2], options), topi::multibox_scores(in[0], options)};
}

constexpr OpInfo kOps[] = {
    runtime_op<infer_align, AlignAttrs>("relax.vision.roi_align", "data, rois",
                                        "Regions of images resampled to one size by interpolation.",
                                        "tilewright.roi_align"),
    runtime_op<infer_roi_pool, RegionAttrs>("relax.vision.roi_pool", "data, rois",
                                            "Regions of images reduced to one size by maxima.",
                                            "tilewright.roi_pool"),
    op<infer_multibox, lower_multibox, MultiboxAttrs>(
        "relax.vision.multibox_transform_loc", "cls_pred, loc_pred, anchor",
        "Boxes (top, left, bottom, right) and scores decoded from a detector's outputs for its anchors.",
        FusePattern::kOpaque),
    runtime_op<infer_all_class, AllClassAttrs>(
        "relax.vision.all_class_non_max_suppression", "boxes, scores",
        "(batch, class, box) of the boxes that overlap no better one of their class, and their number.",
        "tilewright.all_class_non_max_suppression"),
    runtime_op<infer_select_boxes, SelectAttrs>(
        "relax.vision.select_boxes", "boxes, scores, most_per_class, iou_threshold, score_threshold?",
        "(batch, class, box) of the boxes that overlap no better one of their class, [count, 3].",
        "tilewright.select_boxes"),
    runtime_op<infer_valid_counts, CountAttrs>(
        "relax.vision.get_valid_counts", "data",
        "The number of boxes above a score, these boxes first, their positions.",
        "tilewright.get_valid_counts"),
    runtime_op<infer_suppress, SuppressAttrs>(
        "relax.vision.non_max_suppression", "data, valid_count, indices",
        "The boxes that overlap no better one, best first.", "tilewright.non_max_suppression"),
};

}  // namespace

extern constinit const OpTable vision_info =
    op_table(kOps,
             "Girshick, Fast R-CNN, arXiv 1504.08083; He et al., Mask R-CNN, arXiv 1703.06870 (roi_align); "
             "Liu et al., SSD, arXiv 1512.02325");

}  // namespace tilewright::relax
