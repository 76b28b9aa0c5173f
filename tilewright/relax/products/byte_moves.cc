#include "tilewright/relax/products/byte_moves.h"

#include <algorithm>

#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"

namespace tilewright::relax {
namespace {

constexpr std::string_view kMoves[] = {"relax.broadcast_to",
                                       "relax.concat",
                                       "relax.flip",
                                       "relax.gather_elements",
                                       "relax.gather_nd",
                                       "relax.nn.pixel_shuffle",
                                       "relax.permute_dims",
                                       "relax.repeat",
                                       "relax.reverse_sequence",
                                       "relax.stack",
                                       "relax.strided_slice",
                                       "relax.take",
                                       "relax.tile"};
constexpr std::string_view kResizes[] = {"relax.image.resize", "relax.image.resize2d",
                                         "relax.image.resize3d"};
constexpr std::string_view kMaxPools[] = {"relax.nn.max_pool1d", "relax.nn.max_pool2d",
                                          "relax.nn.max_pool3d"};

template <size_t kCount>
bool is_one_of(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_zero(const ObjectRef& value) {
  if (const auto* number = value.as<IntImmNode>()) return number->value == 0;
  const auto* real = value.as<FloatImmNode>();
  return !value || (real && real->value == 0);
}

bool pads_with_zeros_or_own(const CallNode* call) {
  return call->attrs.get_string("pad_mode", "constant") != "constant" ||
         is_zero(call->attrs.get("pad_value"));
}

// Interpolation computes; a place outside of what is cropped has a value of its own.
bool takes_nearest(const CallNode* call) {
  return call->attrs.get_string("method", "linear") == "nearest_neighbor" &&
         call->attrs.get_string("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

}  // namespace

bool only_moves(const CallNode* call) {
  const std::string_view name = op_name(call);
  if (name == "relax.nn.pad") return pads_with_zeros_or_own(call);
  if (is_one_of(kResizes, name)) return takes_nearest(call);
  return is_reshape_like(name) || is_one_of(kMoves, name);
}

bool takes_largest(const CallNode* call) { return is_one_of(kMaxPools, op_name(call)); }

Call moved(const CallNode* call, const Expr& bytes, int64_t zero) {
  std::vector<Expr> args = call->args;
  args[0] = bytes;
  AttrMap attrs = call->attrs;
  attrs.erase("out_dtype");
  if (op_name(call) == "relax.nn.pad") attrs.set("pad_value", attr(zero));
  return call_op(op_name(call), std::move(args), std::move(attrs), call->span);
}

}  // namespace tilewright::relax
