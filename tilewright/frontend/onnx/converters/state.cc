// Operators of models that read a sequence in parts, with what is kept from one part to the next: caches and states.
// Source: onnx.ai/onnx/operators, opset 24 to 27.
#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/frontend/onnx/graphs/cache_graph.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- TensorScatter

// For each element along the axis of `update` its place in the cache, [b, length].
Expr places_of(const NodeMath& math, const Expr& starts, const ir::PrimExpr& length,
               const ir::PrimExpr& size) {
  const bool is_circular = string_attr(math.node(), "mode", "linear") == "circular";
  if (!starts) return nullptr;
  Expr first = math.cast(starts, kInt64);
  if (!is_circular)
    first = math.call("relax.require_range",
                      {first, scalar_value(relax::extent_imm(0)),
                       scalar_value(math.importer().facts.simplify(tir::operator-(size, length))),
                       relax::StringValueNode::make(fmt::format("{}: write_indices", math.node().shown()))});
  const Expr places = math.add(math.with_axes(first, {1}), math.counted(length));
  return is_circular ? math.call("relax.floor_mod", {places, math.extent(size)}) : places;
}

// The elements of `x` in a dtype whose values are moved by the byte: small floats as their bits.
Expr movable(const NodeMath& math, const Expr& x) {
  const DataType own = relax::dtype_of(x), whole = own.is_int() ? DataType::int_(8) : DataType::uint(8);
  if (own.bits > 8 || own.is_bool()) return x;
  if (!own.is_float()) return math.cast(x, whole);
  return math.cast(math.call("relax.bitcast", {x}, {{"dtype", attr(DataType::uint(own.bits).str())}}), whole);
}

// The same backwards.
Expr moved_back(const NodeMath& math, const Expr& x, DataType dtype) {
  if (relax::dtype_of(x).is_float() || !dtype.is_float()) return math.cast(x, dtype);
  return math.call("relax.bitcast", {math.cast(x, DataType::uint(dtype.bits))},
                   {{"dtype", attr(dtype.str())}});
}

void tensor_scatter(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr cache = math.input(0), update = math.input(1);
  require_known_text("mode", string_attr(node, "mode", "linear"), {"linear", "circular"});
  const relax::Shape shape = math.shape(cache), part = math.shape(update);
  math.require_ndim(update, shape.size(), "update");
  const auto axis = static_cast<size_t>(checked_axis(int_attr(node, "axis", -2), shape.size()));
  if (axis == 0) throw UserError("axis is the first one, of the batch");
  relax::Shape expected = shape;
  expected[axis] = part[axis];
  importer.require(node, relax::is_same_shape(part, expected), "update is {}, expected {}", part, expected);
  importer.require(node, tir::operator<=(part[axis], shape[axis]), "update is {}, longer than past_cache {}",
                   part, shape);
  const Expr places = places_of(math, math.input(2), part[axis], shape[axis]);
  const Expr made = written(math, movable(math, cache), movable(math, update), axis, places);
  math.result(0, moved_back(math, made, relax::dtype_of(cache)));
}

// ---- CausalConvWithState

void causal_conv(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0), weight = math.input(1), bias = math.input(2);
  math.require_ndim(x, 3, "input");
  math.require_ndim(weight, 3, "weight");
  const std::string activation = string_attr(node, "activation", "none");
  require_known_text("activation", activation, {"none", "silu", "swish"});
  const auto channels = constant_extent(math.shape(weight)[0]), size = constant_extent(math.shape(weight)[2]);
  if (!channels || !size) throw Unsupported("the extents of the weight are known only at run time");
  const relax::Shape shape = math.shape(x);
  const relax::Shape of_state{shape[0], shape[1], relax::extent_imm(*size - 1)};
  Expr past = math.input(3);
  if (past)
    importer.require(node, relax::is_same_shape(math.shape(past), of_state), "past_state is {}, expected {}",
                     math.shape(past), of_state);
  else
    past = math.call("relax.full", {relax::shape_expr(of_state), math.number_like(x, 0)});
  const Expr whole = *size > 1 ? math.concat({past, x}, 2) : x;
  Expr y = math.call("relax.nn.conv1d", {whole, weight}, {{"groups", attr(*channels)}});
  if (bias) y = math.add(y, math.with_axes(bias, {0, 2}));
  math.result(0, activation == "none" ? y : math.call("relax.nn.silu", {y}));
  if (math.wants(1)) math.result(1, math.sliced(whole, 2, shape[2], math.shape(whole)[2]));
}

// ---- LinearAttention

void linear_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const std::string rule = string_attr(node, "update_rule", "gated_delta");
  require_known_text("update_rule", rule, {"linear", "gated", "delta", "gated_delta"});
  const int64_t shared = int_attr(node, "kv_num_heads", 0);
  const Expr query = split_heads(math, math.input(0), int_attr(node, "q_num_heads", 0), "query"),
             key = split_heads(math, math.input(1), shared, "key"),
             value = split_heads(math, math.input(2), shared, "value");
  const DataType dtype = relax::dtype_of(query);
  const auto one = math.importer().bound(number(1, dtype));
  const ir::PrimExpr unit = relax::extent_imm(1), heads = relax::extent_imm(shared);
  const auto input = [&](size_t n, std::string_view name, bool is_needed) {
    const Expr given = math.input(n);
    if (is_needed && !given) throw UserError("update_rule is \"{}\", but {} is left out", rule, name);
    if (!is_needed && given) throw UserError("update_rule is \"{}\", which does not read {}", rule, name);
    return given;
  };
  Expr decay = input(4, "decay", rule.starts_with("gated")), beta = input(5, "beta", rule.ends_with("delta"));
  if (decay) {
    math.require_ndim(decay, 3, "decay");
    const relax::Shape shape = math.shape(decay);
    const bool is_of_heads = relax::equal_extents(shape[2], heads) == relax::Answer::kYes;
    decay = is_of_heads ? math.with_axes(decay, {3}) : split_heads(math, decay, shared, "decay");
  } else {
    decay = math.reshaped(one, {unit, unit, unit, unit});
  }
  if (!beta) beta = math.reshaped(one, {unit, unit, unit});
  Expr state = math.input(3);
  if (!state)
    state =
        math.call("relax.full",
                  {relax::shape_expr({math.shape(query)[0], heads, math.shape(key)[3], math.shape(value)[3]}),
                   number(0, dtype)});
  const double scale = float_attr(node, "scale", 0);
  const Expr both = math.call("relax.nn.linear_attention", {query, key, value, state, decay, beta},
                              {{"update_rule", attr(rule)},
                               {"scale", attr(scale != 0 ? scale : scale_of_head(math.shape(query)[3]))}});
  const ir::Type whole = relax::type_of(both);
  const auto* fields = whole.as<ir::TupleTypeNode>();
  const auto field = [&](int64_t n) {
    return importer.bound(
        relax::TupleGetItemNode::make(both, n, fields->elements.at(static_cast<size_t>(n))));
  };
  math.result(0, joined_heads(math, field(0)));
  if (math.wants(1)) math.result(1, field(1));
}

constexpr AttributeRule kTensorScatter[] = {{"axis", Attribute::kInt}, {"mode", Attribute::kString}};
constexpr AttributeRule kCausalConv[] = {{"activation", Attribute::kString}};
constexpr AttributeRule kLinearAttention[] = {
    {"chunk_size", Attribute::kInt},
    {"kv_num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"q_num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"scale", Attribute::kFloat},
    {"update_rule", Attribute::kString}};

constexpr ConverterRow kRows[] = {
    {"CausalConvWithState", causal_conv, 2, 4, kCausalConv, 2, 27, kLastOpset, 2},
    {"LinearAttention", linear_attention, 3, 6, kLinearAttention, 2, 27, kLastOpset, 2},
    {"TensorScatter", tensor_scatter, 2, 3, kTensorScatter, 1, 24},
};

}  // namespace

extern constinit const ConverterTable state_info = {kRows};

}  // namespace tilewright::frontend::onnx
