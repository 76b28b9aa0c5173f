// Operators of com.microsoft for models with recurrent states: convolutions and attention that go on where the last call
// ended, and the gates and norms around them.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

void require_no_window(const Node& node) {
  if (const int64_t window = int_attr(node, "state_window", 0))
    throw Unsupported("attribute \"state_window\" is {}, supported is 0: only the last state is kept",
                      window);
}

void linear_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_no_window(node);
  std::vector<Expr> inputs;
  for (size_t n = 0; n < 6; ++n) inputs.push_back(math.input(n));
  const relax::Shape& whole = math.shape(inputs[0]);
  // one rate for all heads stands for one for each
  if (inputs[5] && tir::is_one(math.shape(inputs[5]).back()))
    inputs[5] =
        math.broadcast(inputs[5], {whole[0], whole[1], relax::extent_imm(int_attr(node, "kv_num_heads", 1))});
  std::vector<Attribute> attributes = node.attributes;
  std::erase_if(attributes, [](const Attribute& each) { return each.name == "state_window"; });
  const std::vector<Expr> results = math.as_operator("LinearAttention", inputs, std::move(attributes), 2);
  math.result(0, results[0]);
  math.result(1, results[1]);
}

// decay_scale * softplus(a + dt_bias), and the sigmoid of b
void gate(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr a = math.input(0);
  const Expr sum = math.add(math.cast(a, kFloat32), math.input(1));
  const Expr soft = math.call("relax.nn.softplus", {sum});
  math.result(0, math.cast(math.multiply(math.input(2), soft), relax::dtype_of(a)));
  if (math.wants(1)) math.result(1, math.call("relax.sigmoid", {math.required(3, "b")}));
}

// ---- the causal convolution

/// Input 0 of CausalConvWithState with channels first, and results in the layout of the node.
class Layout {
 public:
  Layout(const NodeMath& math, const Expr& x)
      : math_(math), is_last_(int_attr(math.node(), "channels_last", 0) != 0), shape_(math.shape(x)) {}

  // [b, channels, length]
  Expr channels_first(const Expr& x) const {
    if (!is_last_) return x;
    const relax::Shape& shape = math_.shape(x);
    const ir::PrimExpr channels =
        math_.importer().facts.simplify(relax::num_elements({shape.begin() + 2, shape.end()}));
    return math_.permuted(math_.reshaped(x, {shape[0], shape[1], channels}), {0, 2, 1});
  }
  Expr as_given(const Expr& x) const {
    if (!is_last_) return x;
    relax::Shape shape = shape_;
    shape[1] = math_.shape(x)[2];
    return math_.reshaped(math_.permuted(x, {0, 2, 1}), shape);
  }

 private:
  const NodeMath& math_;
  const bool is_last_;
  const relax::Shape shape_;
};

void causal_conv(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_no_window(node);
  if (const int64_t ndim = int_attr(node, "ndim", 1); ndim != 1)
    throw Unsupported("attribute \"ndim\" is {}, supported is 1", ndim);
  const int64_t dilation = int_attr(node, "dilation", 1);
  const std::string activation = string_attr(node, "activation", "none");
  require_known_text("activation", activation, {"none", "silu", "swish"});
  const Expr given = math.input(0), weight = math.input(1), bias = math.input(2);
  if (math.shape(given).size() < 3) math.require_ndim(given, 3, "input");
  math.require_ndim(weight, 3, "weight");
  const auto channels = constant_extent(math.shape(weight)[0]), size = constant_extent(math.shape(weight)[2]);
  if (!channels || !size) throw Unsupported("the extents of the weight are known only at run time");
  const Layout layout(math, given);
  const Expr x = layout.channels_first(given);
  const relax::Shape shape = math.shape(x);
  const relax::Shape of_state{shape[0], shape[1], relax::extent_imm((*size - 1) * dilation)};
  Expr past = math.input(3);
  past = past ? layout.channels_first(past)
              : math.call("relax.full", {relax::shape_expr(of_state), math.number_like(x, 0)});
  importer.require(node, relax::is_same_shape(math.shape(past), of_state), "past_state holds {}, expected {}",
                   math.shape(past), of_state);
  const Expr whole = *size > 1 ? math.concat({past, x}, 2) : x;
  Expr y = math.call("relax.nn.conv1d", {whole, weight},
                     {{"groups", attr(*channels)}, {"dilation", attr(std::vector<int64_t>{dilation})}});
  if (bias) y = math.add(y, math.with_axes(bias, {0, 2}));
  math.result(0, layout.as_given(activation == "none" ? y : math.call("relax.nn.silu", {y})));
  if (math.wants(1)) math.result(1, layout.as_given(math.sliced(whole, 2, shape[2], math.shape(whole)[2])));
}

// ---- norms and sums with gates

// x / rms(x) * scale * activation(gate), where rows of `scale` make up the last dimension
void gated_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0), scale = math.input(1);
  const std::string activation = string_attr(node, "activation", "silu");
  require_known_text("activation", activation, {"silu", "swish", "sigmoid"});
  math.require_ndim(scale, 1, "scale");
  const relax::Shape shape = math.shape(x);
  const ir::PrimExpr count = math.shape(scale)[0];
  math.require_equal(tir::floormod(relax::as_extent(shape.back()), relax::as_extent(count)),
                     relax::extent_imm(0),
                     "X is {}, whose last dimension is not divided by rows of {} elements", shape, count);
  relax::Shape rows = shape;
  rows.back() = quotient(importer, shape.back(), count);
  rows.push_back(count);
  const Expr wide = math.cast(math.reshaped(x, rows), kFloat32);
  const Expr normal = math.call(
      "relax.nn.rms_norm", {wide, math.cast(scale, kFloat32)},
      {{"axes", attr(std::vector<int64_t>{-1})}, {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
  const Expr gate = math.call(activation == "sigmoid" ? "relax.sigmoid" : "relax.nn.silu",
                              {math.cast(math.input(2), kFloat32)});
  math.result(0, math.cast(math.multiply(math.reshaped(normal, shape), gate), relax::dtype_of(x)));
}

void gated_add(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, math.add(math.input(0), math.multiply(math.input(1), math.input(2))));
}

constexpr AttributeRule kWindow = {"state_window", Attribute::kInt, 0, 8};
constexpr AttributeRule kLinearAttention[] = {
    {"chunk_size", Attribute::kInt},
    {"kv_num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"q_num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"scale", Attribute::kFloat},
    kWindow,
    {"update_rule", Attribute::kString}};
constexpr AttributeRule kCausalConv[] = {{"activation", Attribute::kString},
                                         flag("channels_last"),
                                         {"dilation", Attribute::kInt, 1, kMostExtent},
                                         {"ndim", Attribute::kInt, 1, 3},
                                         kWindow};
constexpr AttributeRule kGatedNorm[] = {{"activation", Attribute::kString},
                                        {"epsilon", Attribute::kFloat, 0}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::CausalConvWithState", causal_conv, 2, 4, kCausalConv, 2, kFirstOpset, kLastOpset, 2},
    {"com.microsoft::GatedAdd", gated_add, 3, 3},
    {"com.microsoft::GatedRMSNorm", gated_norm, 3, 3, kGatedNorm},
    {"com.microsoft::LinearAttention", linear_attention, 3, 6, kLinearAttention, 2, kFirstOpset, kLastOpset,
     2},
    {"com.microsoft::LinearAttentionGate", gate, 3, 4, {}, 2, kFirstOpset, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable contrib_state_info = {kRows};

}  // namespace tilewright::frontend::onnx
