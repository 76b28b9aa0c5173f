// einsum, outer, linear.
#include "tilewright/te/topi/einsum.h"

#include <map>

#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/matmul.h"

namespace tilewright::relax {
namespace {

struct Attrs {
  std::string subscripts;
  static constexpr auto fields() {
    return std::tuple{field<&Attrs::subscripts>("subscripts", "letters of dimensions, e.g. \"ij,jk->ik\"")};
  }
};

Type infer(const Call& call, const Attrs& attrs, Requirements& require) {
  const std::vector<const TensorTypeNode*> operands = tensors_arg(call, 0);
  const topi::EinsumLetters letters = topi::parse_einsum(attrs.subscripts);
  if (operands.empty()) fail(call, "no operands are given");
  if (letters.operands.size() != operands.size())
    fail(call, "subscripts \"{}\" are for {} operands, but {} are given", attrs.subscripts,
         letters.operands.size(), operands.size());
  std::map<char, PrimExpr> extents;
  bool known = true;
  for (size_t n = 0; n < operands.size(); ++n) {
    const std::string& own = letters.operands[n];
    if (operands[n]->dtype != operands[0]->dtype)
      fail(call, "operand 0 is {}, but operand {} is {}", short_text(operands[0]), n,
           short_text(operands[n]));
    if (operands[n]->ndim >= 0 && static_cast<size_t>(operands[n]->ndim) != own.size())
      fail(call, "operand {} is {}, but its subscripts are \"{}\"", n, short_text(operands[n]), own);
    const Shape* shape = known_shape(operands[n]);
    known &= shape != nullptr;
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (!std::isalpha(static_cast<unsigned char>(own[dim])))
        throw Unsupported(call, "einsum: \"{}\" in subscripts \"{}\"", own[dim], attrs.subscripts)
            .help("write a letter for each dimension");
      PrimExpr& extent = extents[own[dim]];
      if (!shape) continue;
      if (!extent) {
        extent = (*shape)[dim];
        continue;
      }
      if (own.find(own[dim]) < dim)
        require.equal(extent, (*shape)[dim], "the diagonal of operand {} {} has extents {} and {}", n, *shape,
                      extent, (*shape)[dim]);
      require.holds(may_broadcast(extent, (*shape)[dim]),
                    "dimension {} has extent {}, but is {} in operand {} {}", std::string(1, own[dim]),
                    extent, (*shape)[dim], n, *shape);
      extent = topi::broadcast_extent(extent, (*shape)[dim]);
    }
  }
  Shape result;
  for (size_t n = 0; n < letters.result.size(); ++n) {
    const char letter = letters.result[n];
    if (!extents.count(letter) || letters.result.find(letter, n + 1) != std::string::npos)
      fail(call, "the result of \"{}\" cannot have dimension {}", attrs.subscripts, letter);
    result.push_back(extents[letter]);
  }
  const DataType dtype = operands[0]->dtype;
  return known ? tensor_type(std::move(result), dtype)
               : tensor_type_of_ndim(static_cast<int64_t>(letters.result.size()), dtype);
}
te::Tensor lower(const LowerInput& in, const Attrs& attrs) {
  return topi::einsum(in.args[0], topi::parse_einsum(attrs.subscripts));
}

Type infer_outer(const Call& call) {
  for (size_t n = 0; n < 2; ++n) require_ndim(call, n, 1);
  const DataType dtype = common_dtype(call, 0, 1);
  const Shape *x = known_shape(tensor_arg(call, 0)), *y = known_shape(tensor_arg(call, 1));
  return x && y ? tensor_type({(*x)[0], (*y)[0]}, dtype) : tensor_type_of_ndim(2, dtype);
}
te::Tensor lower_outer(const LowerInput& in) {
  return topi::einsum({in[0], in[1]}, topi::parse_einsum("i,j->ij"));
}

struct LinearAttrs {
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{
        field<&LinearAttrs::out_dtype>("out_dtype", "dtype of the sums; void: that of the arguments")};
  }
};
Type infer_linear(const Call& call, const LinearAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *weight = tensor_arg(call, 1);
  const DataType dtype = attrs.out_dtype.is_void() ? common_dtype(call, 0, 1) : attrs.out_dtype;
  require_ndim(call, 1, 2);
  if (x->ndim == 0) fail(call, "data is a scalar; use multiply");
  const Shape *shape = known_shape(x), *own = known_shape(weight);
  if (!shape || !own) return tensor_type_of_ndim(x->ndim, dtype);
  require.equal(shape->back(), (*own)[1], "data is {}, weight is {}: contracted lengths {} and {} differ",
                *shape, *own, shape->back(), (*own)[1]);
  Shape result = *shape;
  result.back() = (*own)[0];
  if (call->args.size() > 2) {
    const Shape* bias = known_shape(tensor_arg(call, 2));
    if (bias)
      require.holds(broadcasts_to(*bias, result), "bias is {}, which does not broadcast to {}", *bias,
                    result);
  }
  return tensor_type(std::move(result), dtype);
}
te::Tensor lower_linear(const LowerInput& in, const LinearAttrs&) {
  const te::Tensor& weight = in[1];
  const te::Tensor transposed = te::compute(
      {weight.shape()[1], weight.shape()[0]},
      [&](const std::vector<tir::Var>& i) { return weight.at({i[1], i[0]}); }, {.name = "T_transpose"});
  const te::Tensor product = topi::matmul(in[0], transposed, in.out_dtype());
  return in.has(2) ? topi::add(product, in[2]) : product;
}

constexpr OpInfo kOps[] = {
    op<infer, lower, Attrs>("relax.einsum", "operands", "Sums of products in Einstein notation.",
                            FusePattern::kOutFusable),
    op<infer_outer, lower_outer>("relax.outer", "x1, x2", "All products of elements of two vectors.",
                                 FusePattern::kInjective),
    op<infer_linear, lower_linear, LinearAttrs>("relax.linear", "data, weight, bias?",
                                                "data times the transpose of weight [out, in], plus bias.",
                                                FusePattern::kOutFusable),
};

}  // namespace

extern constinit const OpTable einsum_info =
    op_table(kOps, "numpy.org/doc/stable/reference (einsum, outer), torch.nn.functional.linear");

}  // namespace tilewright::relax
