// Determinants and inverses: runtime functions, because the steps of elimination depend on the elements.
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

const TensorTypeNode* square_matrices(const Call& call, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  require_float(call, 0);
  if (x->ndim >= 0 && x->ndim < 2) fail(call, "x is {}, expected matrices", short_text(x));
  if (const Shape* shape = known_shape(x)) {
    const size_t ndim = shape->size();
    require.equal((*shape)[ndim - 2], (*shape)[ndim - 1], "x is {}, expected square matrices", *shape);
  }
  return x;
}

Type infer_inverse(const Call& call, Requirements& require) { return Type(square_matrices(call, require)); }

Type infer(const Call& call, Requirements& require) {
  const TensorTypeNode* x = square_matrices(call, require);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(x->ndim < 0 ? -1 : x->ndim - 2, x->dtype);
  return tensor_type(Shape(shape->begin(), shape->end() - 2), x->dtype);
}

constexpr OpInfo kOps[] = {
    runtime_op<infer>("relax.det", "x", "The determinants of square matrices [.., n, n].", "tilewright.det"),
    runtime_op<infer_inverse>(
        "relax.inverse", "x",
        "The inverses of square matrices [.., n, n]; infinities and NaN of one that has none.",
        "tilewright.inverse"),
};

}  // namespace

extern constinit const OpTable determinant_info =
    op_table(kOps, "numpy.linalg (det, inv), torch.linalg (det, inv)");

}  // namespace tilewright::relax
