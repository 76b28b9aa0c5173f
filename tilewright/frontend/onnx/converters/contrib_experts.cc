// MoE and QMoE of com.microsoft: each token goes through the networks of a few experts.  All experts compute all tokens;
// those that a token does not choose get the weight 0.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/node_math.h"
#include "tilewright/frontend/onnx/graphs/packed_weights.h"

namespace tilewright::frontend::onnx {
namespace {

/// A layer of all experts: y = x @ weight^T + bias, where weight is [experts, columns, rows].
struct Layer {
  Expr weight, bias;  // null: there is no such layer, or no bias
};

class Experts {
 public:
  Experts(const NodeMath& math, const Layer& first, const Layer& second, const Layer& third)
      : math_(math), first_(first), second_(second), third_(third), x_(math.input(0)) {
    const Node& node = math.node();
    if (int_attr(node, "use_sparse_mixer", 0))
      throw Unsupported("attribute \"use_sparse_mixer\" is 1, supported is 0");
    activation_ = string_attr(node, "activation_type", "relu");
    require_known_text("activation_type", activation_, {"relu", "gelu", "silu", "swiglu", "identity"});
    const size_t ndim = math.shape(x_).size();
    if (ndim != 3) math.require_ndim(x_, 2, "input");
    dtype_ = relax::dtype_of(x_);
    tokens_ = math.importer().facts.simplify(
        relax::num_elements({math.shape(x_).begin(), math.shape(x_).end() - 1}));
    const Expr router = math.input(1);
    math.require_ndim(router, 2, "router_probs");
    count_ = math.shape(router)[1];
    math.require_equal(math.shape(router)[0], tokens_, "router_probs is {}, but the input has {} tokens",
                       math.shape(router), tokens_);
    for (const Layer& layer : {first_, second_, third_}) {
      if (!layer.weight) continue;
      math.require_ndim(layer.weight, 3, "the weights of experts");
      math.require_equal(math.shape(layer.weight)[0], count_, "weights are {}, but the router has {} experts",
                         math.shape(layer.weight), count_);
    }
  }

  /// The result, where `share` [tokens, experts] says what each expert counts.
  void convert(const Expr& share) const {
    const relax::Shape shape = math_.shape(x_);
    const Expr rows = math_.reshaped(x_, {tokens_, shape.back()});
    const Expr outputs = through(second_, activated(rows));
    const Expr by_expert = math_.with_axes(math_.permuted(share, {1, 0}), {2});
    const Expr weighted = math_.multiply(math_.cast(outputs, relax::dtype_of(share)), by_expert);
    const Expr sum = math_.call("relax.sum", {weighted}, {{"axis", attr(std::vector<int64_t>{0})}});
    math_.result(0, math_.reshaped(math_.cast(sum, dtype_), shape));
  }

  // True for the k experts of each token with the highest scores.
  Expr chosen() const {
    const int64_t k = int_attr(math_.node(), "k", 1);
    const Expr router = math_.input(1);
    math_.importer().require(math_.node(), tir::operator<=(relax::extent_imm(k), count_),
                             "{} experts are chosen of {}", k, count_);
    const Expr best = math_.call("relax.topk", {router},
                                 {{"k", attr(k)},
                                  {"axis", attr(int64_t{-1})},
                                  {"ret_type", attr("indices")},
                                  {"largest", attr(true)},
                                  {"dtype", attr("int64")}});
    const Expr hits = math_.call("relax.equal", {math_.with_axes(best, {2}), math_.counted(count_)});
    const Expr counts =
        math_.call("relax.sum", {math_.cast(hits, kInt32)}, {{"axis", attr(std::vector<int64_t>{1})}});
    return math_.call("relax.greater", {counts, number(0, kInt32)});
  }
  // The share of each expert by the scores of the router: of all, or only of those that are chosen.
  Expr share_of_scores(bool is_of_chosen) const {
    const Expr share =
        math_.call("relax.nn.softmax", {math_.cast(math_.input(1), kFloat32)}, {{"axis", attr(int64_t{-1})}});
    return only_chosen(share, is_of_chosen);
  }
  // `share` without experts that are not chosen, with a sum of 1 if `is_of_chosen`.
  Expr only_chosen(const Expr& share, bool is_of_chosen) const {
    const Expr own = math_.where(chosen(), share, math_.number_like(share, 0));
    return is_of_chosen ? math_.divide(own, math_.reduced("relax.sum", own, {-1})) : own;
  }

 private:
  // [experts, tokens, columns]
  Expr through(const Layer& layer, const Expr& x) const {
    const Expr y = math_.matmul(x, math_.transposed(layer.weight), dtype_);
    return layer.bias ? math_.add(y, math_.with_axes(layer.bias, {1})) : y;
  }

  Expr activated(const Expr& x) const {
    const Expr first = through(first_, x);
    if (activation_ == "swiglu") return gated(first, x);
    Expr y = first;
    if (activation_ == "relu") y = math_.call("relax.nn.relu", {first});
    if (activation_ == "gelu") y = math_.call("relax.nn.gelu_tanh", {first});
    if (activation_ == "silu") y = math_.call("relax.nn.silu", {first});
    return third_.weight ? math_.multiply(y, through(third_, x)) : y;
  }

  // g * sigmoid(alpha * g) * (l + beta), where g and l are two layers, or parts of one
  Expr gated(const Expr& both, const Expr& x) const {
    const Node& node = math_.node();
    const int64_t fusion = int_attr(node, "swiglu_fusion", 0);
    const ir::PrimExpr end = math_.shape(both)[2], zero = relax::extent_imm(0), one = relax::extent_imm(1),
                       half = quotient(math_.importer(), end, relax::extent_imm(2));
    Expr gate = both, line;
    if (fusion == 0) {
      if (!third_.weight) throw UserError("swiglu_fusion is 0, but fc3_experts_weights is left out");
      line = through(third_, x);
    } else if (fusion == 1) {
      gate = math_.sliced(both, 2, zero, end, 2), line = math_.sliced(both, 2, one, end, 2);
    } else {
      gate = math_.first(both, 2, half), line = math_.sliced(both, 2, half, end);
    }
    if (node.find("swiglu_limit")) {
      const double limit = float_attr(node, "swiglu_limit", 0);
      gate = math_.call("relax.minimum", {gate, math_.number_like(gate, limit)});
      line = math_.call("relax.minimum", {line, math_.number_like(line, limit)});
      line = math_.call("relax.maximum", {line, math_.number_like(line, -limit)});
    }
    const Expr opened = math_.multiply(
        gate, math_.call("relax.sigmoid", {math_.scaled(gate, float_attr(node, "activation_alpha", 1))}));
    const double beta = float_attr(node, "activation_beta", 0);
    return math_.multiply(opened, beta == 0 ? line : math_.add(line, math_.number_like(line, beta)));
  }

  const NodeMath& math_;
  const Layer first_, second_, third_;
  const Expr x_;
  std::string activation_;
  DataType dtype_;
  ir::PrimExpr tokens_, count_;
};

void experts(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const auto layer = [&](size_t n) { return Layer{math.input(n), math.input(n + 1)}; };
  const Experts all(math, layer(2), layer(4), layer(6));
  all.convert(all.share_of_scores(int_attr(node, "normalize_routing_weights", 0) != 0));
}

// ---- weights of few bits

// Layer `n` of three, with its weights as real numbers.
Layer quantized_layer(const NodeMath& math, size_t n) {
  const size_t at = 2 + 3 * n;
  if (!math.importer().has_input(math.node(), at)) return {};
  const Expr packed = math.input(at), scales = math.required(at + 1, "scales");
  const int64_t all = int_attr(math.node(), "expert_weight_bits", 4),
                bits = int_attr(math.node(), fmt::format("fc{}_expert_weight_bits", n + 1), all);
  if (bits != 2 && bits != 4 && bits != 8) throw UserError("weights of {} bits, expected 2, 4 or 8", bits);
  math.require_ndim(packed, 3, "the weights of experts");
  std::vector<int64_t> extents;
  for (const ir::PrimExpr& extent : math.shape(packed)) {
    const auto known = constant_extent(extent);
    if (!known) throw Unsupported("the extents of weights are known only at run time");
    extents.push_back(*known);
  }
  const int64_t count = extents[0], columns = extents[1], rows = extents[2] * 8 / bits,
                block = int_attr(math.node(), "block_size", 0),
                num_blocks = block > 0 ? (rows - 1) / block + 1 : 1;
  const DataType dtype = DataType::uint(static_cast<int>(bits));
  const auto in_rows = [&](size_t input, int64_t num_rows, int64_t num_values, relax::Shape shape) {
    const int64_t num_bytes = (num_values * bits + 7) / 8;
    const runtime::Tensor bytes = require_constant(math.importer(), math.node(), input, num_rows * num_bytes);
    const Expr numbers = unpacked(bytes, num_rows, num_bytes, num_values, dtype);
    return math.reshaped(numbers, shape);
  };
  const relax::Shape of_weights = relax::extents(std::vector<int64_t>{count, columns, rows}),
                     of_blocks = relax::extents(std::vector<int64_t>{count, columns, num_blocks});
  const Expr numbers = in_rows(at, count * columns, rows, of_weights);
  Expr zeros = relax::make_scalar(int64_t{1} << (bits - 1), DataType::uint(8));
  if (math.importer().has_input(math.node(), 11 + n))
    zeros = block > 0 ? in_rows(11 + n, count * columns, num_blocks, of_blocks)
                      : in_rows(11 + n, count, columns, of_blocks);
  const Expr weight = math.call("relax.dequantize", {numbers, math.reshaped(scales, of_blocks), zeros},
                                {{"axis", attr(int64_t{2})},
                                 {"block_size", attr(block > 0 ? block : rows)},
                                 {"out_dtype", attr(relax::dtype_of(math.input(0)).str())}});
  return {weight, math.input(at + 2)};
}

// The shares of the experts that a token chooses always have the sum 1, as in onnxruntime, whatever
// normalize_routing_weights says, unless router_weights are given.
void quantized_experts(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  if (const std::string kind = string_attr(node, "quant_type", "int"); kind != "int")
    throw Unsupported("attribute \"quant_type\" is \"{}\", supported is \"int\"", kind);
  if (int_attr(node, "weights_prepacked", -1) == 1)
    throw Unsupported("weights_prepacked is 1, a layout for other processors");
  const Experts all(math, quantized_layer(math, 0), quantized_layer(math, 1), quantized_layer(math, 2));
  if (const Expr given = math.input(14))
    return all.convert(
        all.only_chosen(math.cast(given, kFloat32), int_attr(node, "normalize_routing_weights", 0) != 0));
  all.convert(all.share_of_scores(true));
}

constexpr AttributeRule kExperts[] = {
    {"activation_alpha", Attribute::kFloat}, {"activation_beta", Attribute::kFloat},
    {"activation_type", Attribute::kString}, {"k", Attribute::kInt, 1, kMostExtent},
    flag("normalize_routing_weights"),       {"swiglu_fusion", Attribute::kInt, 0, 2},
    {"swiglu_limit", Attribute::kFloat},     flag("use_sparse_mixer")};
constexpr AttributeRule kQuantized[] = {{"accuracy_level", Attribute::kInt},
                                        {"activation_alpha", Attribute::kFloat},
                                        {"activation_beta", Attribute::kFloat},
                                        {"activation_type", Attribute::kString},
                                        {"block_size", Attribute::kInt, 0, kMostExtent},
                                        {"expert_weight_bits", Attribute::kInt},
                                        {"fc1_expert_weight_bits", Attribute::kInt},
                                        {"fc2_expert_weight_bits", Attribute::kInt},
                                        {"fc3_expert_weight_bits", Attribute::kInt},
                                        {"k", Attribute::kInt, 1, kMostExtent},
                                        flag("normalize_routing_weights"),
                                        {"quant_type", Attribute::kString},
                                        {"swiglu_fusion", Attribute::kInt, 0, 2},
                                        {"swiglu_limit", Attribute::kFloat},
                                        flag("use_sparse_mixer"),
                                        {"weights_prepacked", Attribute::kInt, -1, 1}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::MoE", experts, 3, 8, kExperts},
    {"com.microsoft::QMoE", quantized_experts, 3, 21, kQuantized},
};

}  // namespace

extern constinit const ConverterTable contrib_experts_info = {kRows};

}  // namespace tilewright::frontend::onnx
