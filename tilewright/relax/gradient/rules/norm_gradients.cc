// Normalizations.  With h = (x - mean) * r, r = 1 / sqrt(variance + epsilon), and g the gradient of h:
//   dx = r * (g - mean(g) - h * mean(g * h))     over the dimensions normalized together
// Source: Ioffe and Szegedy, arXiv 1502.03167, section 3
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

double epsilon_of(const Backward& b) { return b.call()->attrs.get_float("epsilon", 1e-5); }
bool has(const Backward& b, std::string_view what) { return b.call()->attrs.get_bool(what, true); }

std::vector<int64_t> others(const std::vector<int64_t>& axes, size_t ndim) {
  std::vector<int64_t> result;
  for (int64_t n = 0; n < static_cast<int64_t>(ndim); ++n) {
    if (std::find(axes.begin(), axes.end(), n) == axes.end()) result.push_back(n);
  }
  return result;
}
// `shape` with extent 1 outside of `axes`, as a scale or shift broadcasts.
Shape only(const std::vector<int64_t>& axes, const Shape& shape) {
  Shape result(shape.size(), extent_imm(1));
  for (int64_t axis : axes) result[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)];
  return result;
}

// x normalized over some dimensions, and the gradient of x from the gradient of the result.
class Normalized {
 public:
  Normalized(const Backward& b, const Value& x, const Shape& shape, std::vector<int64_t> axes,
             bool is_centered)
      : b_(b), axes_(std::move(axes)), is_centered_(is_centered) {
    count_ = b.bind(b.count(shape, axes_));
    const Value centered = is_centered ? b.bind(x - mean(x)) : x;
    scale_ = b.bind(apply("rsqrt", {mean(centered * centered) + b.number(epsilon_of(b))}));
    value_ = b.bind(centered * scale_);
  }
  const Value& value() const { return value_; }
  Value back(const Value& grad) const {
    const Value g = b_.bind(grad);
    const Value along = value_ * mean(g * value_);
    return scale_ * (is_centered_ ? g - mean(g) - along : g - along);
  }

 private:
  Value mean(const Value& x) const { return sum(x, axes_, true) / count_; }
  const Backward& b_;
  std::vector<int64_t> axes_;
  bool is_centered_;
  Value count_, scale_, value_;
};

// Adds the gradients of gamma and beta, which have the dimensions `axes`, for `value` * gamma + beta; returns
// the gradient of `value`.
Value through_affine(Backward& b, const Value& grad, const Value& value, const Shape& shape,
                     const std::vector<int64_t>& axes) {
  const std::vector<int64_t> summed = others(axes, shape.size());
  if (has(b, "scale")) b.add(1, sum(grad * value, summed, false));
  if (b.num_args() > 2 && has(b, "center")) b.add(2, sum(grad, summed, false));
  return has(b, "scale") ? grad * reshape(b.x(1), only(axes, shape)) : grad;
}

void of_layer_norm(Backward& b) {
  const Shape& shape = b.shape(0);
  const std::vector<int64_t> axes = b.axes("axes", shape.size());
  const Normalized x(b, b.x(0), shape, axes, true);
  const Value inside = through_affine(b, b.grad(), x.value(), shape, axes);
  b.add(0, x.back(inside));
}
void of_rms_norm(Backward& b) {
  const Shape& shape = b.shape(0);
  const std::vector<int64_t> axes = b.axes("axes", shape.size());
  const Normalized x(b, b.x(0), shape, axes, false);
  const Value inside = through_affine(b, b.grad(), x.value(), shape, axes);
  b.add(0, x.back(inside));
}

// Reshapes channels to two dimensions: the groups, and the channels within one.
void of_group_norm(Backward& b) {
  const Shape& shape = b.shape(0);
  const AttrMap& attrs = b.call()->attrs;
  const int64_t channel = normalize_axis(b.call(), attrs.get_int("channel_axis", 1), b.ndim(0));
  const int64_t groups = attrs.get_int("num_groups", 1);
  Shape grouped = shape;
  grouped[static_cast<size_t>(channel)] = extent_imm(groups);
  grouped.insert(grouped.begin() + channel + 1,
                 arith::simplify(tir::floordiv(shape[static_cast<size_t>(channel)], groups)));
  std::vector<int64_t> axes{channel + 1};
  for (int64_t axis : b.axes("axes", shape.size())) axes.push_back(axis < channel ? axis : axis + 1);
  const Normalized x(b, reshape(b.x(0), grouped), grouped, axes, true);
  const Value inside = through_affine(b, b.grad(), b.bind(reshape(x.value(), shape)), shape, {channel});
  b.add(0, reshape(x.back(reshape(inside, grouped)), shape));
}
void of_instance_norm(Backward& b) {
  const Shape& shape = b.shape(0);
  const int64_t channel = normalize_axis(b.call(), b.call()->attrs.get_int("channel_axis", 1), b.ndim(0));
  const Normalized x(b, b.x(0), shape, b.axes("axes", shape.size()), true);
  const Value inside = through_affine(b, b.grad(), x.value(), shape, {channel});
  b.add(0, x.back(inside));
}

// (y, mean, variance): in training the statistics are computed from x, else they are given
void of_batch_norm(Backward& b) {
  const Shape& shape = b.shape(0);
  const std::vector<int64_t> channel{b.axis("axis", shape.size())};
  const std::vector<int64_t> reduced = others(channel, shape.size());
  const bool is_training = b.call()->attrs.get_bool("training", false);
  if (is_training && (b.grad(1) || b.grad(2))) b.refuse("the target depends on its statistics");
  if (b.grad(1)) b.add(3, b.grad(1));
  if (b.grad(2)) b.add(4, b.grad(2));
  if (!b.grad(0)) return;
  if (is_training) {
    const Normalized x(b, b.x(0), shape, reduced, true);
    const Value inside = through_affine(b, b.grad(0), x.value(), shape, channel);
    return b.add(0, x.back(inside));
  }
  const Value mean = reshape(b.x(3), only(channel, shape)), variance = reshape(b.x(4), only(channel, shape));
  const Value scale = b.bind(apply("rsqrt", {variance + b.number(epsilon_of(b))}));
  const Value value = b.bind((b.x(0) - mean) * scale);
  const Value inside = b.bind(through_affine(b, b.grad(0), value, shape, channel));
  b.add(0, inside * scale);
  b.add(3, -sum(inside * scale, reduced, false));
  b.add(4, sum(inside * value * scale * scale * b.number(-0.5), reduced, false));
}

constexpr GradientRow kRows[] = {
    {"relax.nn.layer_norm", of_layer_norm}, {"relax.nn.rms_norm", of_rms_norm},
    {"relax.nn.group_norm", of_group_norm}, {"relax.nn.instance_norm", of_instance_norm},
    {"relax.nn.batch_norm", of_batch_norm},
};

}  // namespace

extern constinit const GradientTable norm_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
