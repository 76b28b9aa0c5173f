// Softmax, losses, dropout, and operators that only control gradients.
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void of_softmax(Backward& b) {
  const int64_t axis = b.axis("axis", static_cast<size_t>(b.ndim(0)));
  b.add(0, b.out() * (b.grad() - sum(b.grad() * b.out(), {axis}, true)));
}
void of_log_softmax(Backward& b) {
  const int64_t axis = b.axis("axis", static_cast<size_t>(b.ndim(0)));
  b.add(0, b.grad() - apply("exp", {b.out()}) * sum(b.grad(), {axis}, true));
}

// -sum(predictions * labels) / batch
void of_cross_entropy(Backward& b) {
  const Shape& shape = b.shape(0);
  const Value count = shape.size() > 1 ? b.count(shape, {0}) : b.number(1);
  Value scale = -(b.grad() / count);
  if (!shape.empty()) scale = reshape(scale, Shape(shape.size(), extent_imm(1)));
  scale = b.bind(scale);
  b.add(0, scale * b.x(1));
  b.add(1, scale * b.x(0));
}

void of_nll_loss(Backward& b) {
  if (b.needs(2)) b.refuse("a gradient of its weights is asked for");
  std::vector<Value> args{b.grad()};
  for (size_t n = 0; n < b.num_args(); ++n) args.push_back(b.x(n));
  b.add(0, apply("grad.nll_loss_backward", args, b.call()->attrs));
}

// as in inference: the data unchanged, and a mask of ones
void of_dropout(Backward& b) { b.add(0, b.grad(0)); }

void of_nothing(Backward&) {}
void of_identity(Backward& b) { b.add(0, b.grad()); }

constexpr GradientRow kRows[] = {
    {"relax.nn.softmax", of_softmax},
    {"relax.nn.log_softmax", of_log_softmax},
    {"relax.nn.cross_entropy_with_logits", of_cross_entropy},
    {"relax.nn.nll_loss", of_nll_loss},
    {"relax.nn.dropout", of_dropout},
    {"relax.grad.no_grad", of_nothing},
    {"relax.grad.start_checkpoint", of_identity},
    {"relax.grad.end_checkpoint", of_identity},
};

}  // namespace

extern constinit const GradientTable loss_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
