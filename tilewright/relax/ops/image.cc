// Sampling of images: grid_sample, affine_grid.
#include "tilewright/te/topi/image.h"

#include "tilewright/relax/infer/known_texts.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

struct GridAttrs {
  std::string method = "bilinear", layout = "NCHW", padding_mode = "zeros";
  bool align_corners = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&GridAttrs::method>("method", "\"bilinear\", \"nearest\" or \"bicubic\", of volumes alike"),
        field<&GridAttrs::layout>("layout", "\"NCHW\" or, for volumes, \"NCDHW\""),
        field<&GridAttrs::padding_mode>("padding_mode", "\"zeros\", \"border\" or \"reflection\""),
        field<&GridAttrs::align_corners>("align_corners", "whether -1 and 1 are centres of corner elements")};
  }
};
Type infer_grid_sample(const Call& call, const GridAttrs& attrs, Requirements& require) {
  require_one_of(call, "layout", attrs.layout, {"NCHW", "NCDHW"});
  const int64_t count = attrs.layout == "NCHW" ? 2 : 3;
  for (size_t n = 0; n < 2; ++n) require_ndim(call, n, 2 + count);
  const TensorTypeNode *x = tensor_arg(call, 0), *grid = tensor_arg(call, 1);
  require_one_of(call, "method", attrs.method, {"bilinear", "nearest", "bicubic"});
  require_one_of(call, "padding_mode", attrs.padding_mode, {"zeros", "border", "reflection"});
  const Shape *shape = known_shape(x), *places = known_shape(grid);
  if (!shape || !places) return tensor_type_of_ndim(2 + count, x->dtype);
  require.equal(Shape{(*places)[0], (*places)[1]}, Shape{(*shape)[0], extent_imm(count)},
                "grid is {}, expected [{}, {}, ...] for data {}", *places, (*shape)[0], count, *shape);
  Shape result{(*shape)[0], (*shape)[1]};
  result.insert(result.end(), places->begin() + 2, places->end());
  for (size_t n = 2; n < shape->size(); ++n) require_elements(call, 0, *shape, n, result, require);
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_grid_sample(const LowerInput& in, const GridAttrs& attrs) {
  return topi::grid_sample(in[0], in[1], {attrs.method, attrs.padding_mode, attrs.align_corners});
}

struct AffineAttrs {
  bool align_corners = true;
  static constexpr auto fields() {
    return std::tuple{field<&AffineAttrs::align_corners>(
        "align_corners", "whether -1 and 1 are centres of corner elements, else the edges of the image")};
  }
};
Type infer_affine_grid(const Call& call, const AffineAttrs&, Requirements& require) {
  require_ndim(call, 0, 3);
  const TensorTypeNode* theta = tensor_arg(call, 0);
  int64_t count;
  Shape storage;
  const Shape* size = shape_arg(call, 1, &count, &storage);
  if (count >= 0 && count != 2 && count != 3)
    fail(call, "size has {} extents, expected height and width, or depth, height and width", count);
  const Shape* shape = known_shape(theta);
  const PrimExpr rows = extent_imm(count), columns = extent_imm(count + 1);
  if (shape && count >= 0)
    require.equal(Shape{(*shape)[1], (*shape)[2]}, Shape{rows, columns},
                  "data is {}, expected [batch, {}, {}]", *shape, count, count + 1);
  if (!shape || !size) return tensor_type_of_ndim(count < 0 ? -1 : count + 2, theta->dtype);
  Shape result{(*shape)[0], rows};
  result.insert(result.end(), size->begin(), size->end());
  return tensor_type(std::move(result), theta->dtype);
}
te::Tensor lower_affine_grid(const LowerInput& in, const AffineAttrs& attrs) {
  return topi::affine_grid(in[0], in.shape(1), attrs.align_corners);
}

constexpr OpInfo kOps[] = {
    op<infer_grid_sample, lower_grid_sample, GridAttrs>(
        "relax.image.grid_sample", "data, grid", "Samples an image or volume at the coordinates of a grid.",
        FusePattern::kInjective),
    op<infer_affine_grid, lower_affine_grid, AffineAttrs>("relax.image.affine_grid", "data, size",
                                                          "The grid of an affine map of an image or volume.",
                                                          FusePattern::kInjective),
};

}  // namespace

extern constinit const OpTable image_info = op_table(kOps, "torch.nn.functional (grid_sample, affine_grid)");

}  // namespace tilewright::relax
