// Products: matmul, linear, outer, einsum.
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/einsum.h"

namespace tilewright::relax {
namespace {

// `x` with the last two dimensions exchanged.
Value transposed(const Value& x, size_t ndim) {
  std::vector<int64_t> axes(ndim);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[ndim - 1], axes[ndim - 2]);
  return permute(x, axes);
}
Value product(const Value& a, const Value& b) { return apply("matmul", {a, b}); }

// [.., m, k] as [.. * m, k]
Value as_rows(const Value& x, const Shape& shape) {
  if (shape.size() == 2) return x;
  return reshape(x, {num_elements(Shape(shape.begin(), shape.end() - 1)), shape.back()});
}

// [.., m, k] x [.., k, n]; a vector counts as a row or a column
void of_matmul(Backward& b) {
  Shape left = b.shape(0), right = b.shape(1), result = b.shape_of(type_of(b.out().expr));
  const bool is_row = left.size() == 1, is_column = right.size() == 1;
  if (is_column) right.push_back(extent_imm(1)), result.push_back(extent_imm(1));
  if (is_row) left.insert(left.begin(), extent_imm(1)), result.insert(result.end() - 1, extent_imm(1));
  auto shaped = [](const Value& x, const Shape& shape, bool is_vector) {
    return is_vector ? reshape(x, shape) : x;
  };
  Value grad = b.grad();
  if (type_of(grad.expr).as<TensorTypeNode>()->dtype != b.dtype(0)) grad = cast(grad, b.dtype(0));
  grad = b.bind(shaped(grad, result, is_row || is_column));
  const Value a = shaped(b.x(0), left, is_row), w = shaped(b.x(1), right, is_column);
  auto like = [](const Value& x, const Shape& shape, bool is_vector) {
    return is_vector ? reshape(apply("collapse_sum_to", {x, shape_value(shape)}), {num_elements(shape)}) : x;
  };
  if (b.needs(0)) b.add(0, like(product(grad, transposed(w, right.size())), left, is_row));
  if (!b.needs(1)) return;
  // one weight for all of the batch: one product of all rows
  const bool is_shared = right.size() == 2 && left.size() > 2;
  const Value rows = is_shared ? as_rows(a, left) : a, grads = is_shared ? as_rows(grad, result) : grad;
  b.add(1, like(product(transposed(rows, is_shared ? 2 : left.size()), grads), right, is_column));
}

// data [.., in] times the transpose of weight [out, in]
void of_linear(Backward& b) {
  Value grad = b.grad();
  if (type_of(grad.expr).as<TensorTypeNode>()->dtype != b.dtype(0)) grad = b.bind(cast(grad, b.dtype(0)));
  const Shape result = b.shape_of(type_of(b.out().expr));
  const bool is_vector = result.size() == 1;
  const Shape one_row{extent_imm(1), result.back()}, one_input{extent_imm(1), b.shape(0).back()};
  const Value rows = is_vector ? reshape(grad, one_row) : as_rows(grad, result);
  b.add(0, product(grad, b.x(1)));
  if (b.needs(1)) {
    const Value inputs = is_vector ? reshape(b.x(0), one_input) : as_rows(b.x(0), b.shape(0));
    b.add(1, product(transposed(rows, 2), inputs));
  }
  if (b.num_args() > 2) b.add(2, b.grad());
}

void of_outer(Backward& b) {
  b.add(0, product(b.grad(), b.x(1)));
  b.add(1, product(transposed(b.grad(), 2), b.x(0)));
}

// The gradient of operand k is the einsum of the result's gradient and the other operands to its letters.  A
// letter that only this operand has was summed alone; a dimension of extent 1 was repeated.
void of_einsum(Backward& b) {
  const std::string subscripts = b.call()->attrs.get_string("subscripts", "");
  const topi::EinsumLetters letters = topi::parse_einsum(subscripts);
  for (size_t k = 0; k < letters.operands.size(); ++k) {
    const std::string& own = letters.operands[k];
    std::string given = letters.result, inputs = letters.result, found;
    std::vector<Value> operands{b.grad()};
    for (size_t n = 0; n < letters.operands.size(); ++n) {
      if (n == k) continue;
      given += letters.operands[n];
      inputs += "," + letters.operands[n];
      operands.push_back(b.x(0, n));
    }
    const Shape& shape = b.shape_of(Type(tensors_arg(b.call(), 0)[k]));
    Shape with_ones;
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (own.find(own[dim], dim + 1) != std::string::npos)
        b.refuse(fmt::format("operand {} of \"{}\" has a letter twice", k, subscripts));
      const bool is_given = given.find(own[dim]) != std::string::npos;
      if (is_given) found += own[dim];
      with_ones.push_back(is_given ? shape[dim] : extent_imm(1));
    }
    const Value grad =
        b.bind(apply("einsum", {tuple_of(operands)}, {{"subscripts", attr(inputs + "->" + found)}}));
    // add sums letters that have extent 1 in this operand; only then are ones inserted
    Shape at_letters;
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (given.find(own[dim]) != std::string::npos) at_letters.push_back(shape[dim]);
    }
    const Value collapsed = apply("collapse_sum_to", {grad, shape_value(at_letters)});
    b.add(0, k, broadcast_to(reshape(collapsed, with_ones), shape));
  }
}

constexpr GradientRow kRows[] = {
    {"relax.matmul", of_matmul},
    {"relax.linear", of_linear},
    {"relax.outer", of_outer},
    {"relax.einsum", of_einsum},
};

}  // namespace

extern constinit const GradientTable linear_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
