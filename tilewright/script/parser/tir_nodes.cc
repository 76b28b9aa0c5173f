// T.Ramp, T.Shuffle, T.index_map, T.target and other composite values; lambdas of reducers and index maps.
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_functions.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {

namespace {
// An integer, or T.vscale() * integer
int64_t lanes_of(Parser& parser, const Arg& arg) {
  const auto is_vscale = [](const PrimExpr& expr) {
    const auto* call = expr.as<tir::CallNode>();
    const auto* op = call ? call->op.as<ir::OpNode>() : nullptr;
    return op && op->name == "tir.vscale";
  };
  const auto* scaled = arg.value.node<MulNode>();
  const bool comes_first = scaled && is_vscale(scaled->a);
  int64_t factor;
  if (scaled && (comes_first || is_vscale(scaled->b)) &&
      as_const_int(comes_first ? scaled->b : scaled->a, &factor) && factor >= 1 &&
      factor < DataType::kScalable)
    return factor | DataType::kScalable;
  const int64_t lanes = parser.to_int(arg.value, arg.place, "the number of lanes");
  if (lanes < 1 || lanes > 0x7fff) throw UserError(parser.span(arg.place), "a vector of {} lanes", lanes);
  return lanes;
}
}  // namespace

Value ramp(Parser& parser, Args& args) {
  const Arg& base = args.need(0, "base");
  const Arg& stride = args.need(1, "stride");
  const Arg& lanes = args.need(2, "lanes");
  args.done();
  auto [x, y] = parser.unify(base.value, stride.value, args.place);
  return RampNode::make(x, y, lanes_of(parser, lanes), args.span);
}

Value broadcast(Parser& parser, Args& args) {
  const Arg& value = args.need(0, "value");
  const Arg& lanes = args.need(1, "lanes");
  args.done();
  return BroadcastNode::make(parser.to_prim(value.value, value.place), lanes_of(parser, lanes), args.span);
}

Value shuffle(Parser& parser, Args& args) {
  const Arg& vectors = args.need(0, "vectors");
  const Arg& indices = args.need(1, "indices");
  args.done();
  return ShuffleNode::make(parser.to_prims(vectors.value, vectors.place),
                           parser.to_prims(indices.value, indices.place), args.span);
}

// T.BufferLoad(A, [i], predicate)
Value buffer_load(Parser& parser, Args& args) {
  const Arg& buffer = args.need(0, "buffer");
  const Arg& indices = args.need(1, "indices");
  const Arg* predicate = args.find(2, "predicate");
  args.done();
  auto node = buffer.value.ref<BufferNode>();
  if (!node)
    throw UserError(parser.span(buffer.place), "expected a buffer, found {}", describe(buffer.value));
  PrimExpr mask = predicate && !predicate->value.is_none()
                      ? parser.to_prim(predicate->value, predicate->place)
                      : PrimExpr();
  return BufferLoadNode::make(node, parser.to_prims(indices.value, indices.place), mask, args.span);
}

std::pair<std::vector<tir::Var>, std::vector<PrimExpr>> apply_lambda(Parser& parser, const Arg& arg,
                                                                     const std::vector<DataType>& dtypes,
                                                                     std::string_view what) {
  const auto* lambda = arg.value.get<LambdaValue>();
  if (!lambda)
    throw UserError(parser.span(arg.place), "{} takes a lambda, found {}", what, describe(arg.value));
  const std::vector<std::string_view>& names = lambda->expr->names;
  for (std::string_view name : names) {
    if (name.starts_with("*"))
      throw Unsupported(parser.span(arg.place), "{}: a lambda with a variable number of parameters", what);
  }
  if (names.empty()) throw UserError(parser.span(arg.place), "{}: the lambda has no parameters", what);
  if (!dtypes.empty() && dtypes.size() != names.size())
    throw UserError(parser.span(arg.place), "{}: the lambda has {} parameters, expected {}", what,
                    names.size(), dtypes.size());
  FrameGuard frame(&parser.names);
  std::vector<tir::Var> vars;
  for (size_t n = 0; n < names.size(); ++n) {
    vars.push_back(
        make_var(std::string(names[n]), dtypes.empty() ? kInt32 : dtypes[n], parser.span(arg.place)));
    parser.names.define(names[n], vars.back(), arg.place);
  }
  const ast::Expr* body = lambda->expr->items[0];
  const Value result = parser.eval(body);
  return {vars, parser.to_prims(result, body->place)};
}

// T.comm_reducer(lambda x, y: x + y, [T.float32(0)])
Value comm_reducer(Parser& parser, Args& args) {
  const Arg& combiner = args.need(0, "combiner");
  const Arg& identity_arg = args.need(1, "identity");
  args.done();
  std::vector<PrimExpr> identity = parser.to_prims(identity_arg.value, identity_arg.place);
  std::vector<DataType> dtypes;
  for (int side = 0; side < 2; ++side) {
    for (const PrimExpr& value : identity) dtypes.push_back(value->dtype);
  }
  auto [vars, result] = apply_lambda(parser, combiner, dtypes, "T.comm_reducer");
  if (result.size() != identity.size())
    throw UserError(parser.span(combiner.place),
                    "T.comm_reducer: the lambda gives {} values, but {} identities are given", result.size(),
                    identity.size());
  const auto half = static_cast<long>(identity.size());
  return CommReducerNode::make(std::vector<tir::Var>(vars.begin(), vars.begin() + half),
                               std::vector<tir::Var>(vars.begin() + half, vars.end()), std::move(result),
                               std::move(identity));
}

// T.index_map(lambda i, j: (i // 4, j, i % 4))
Value index_map(Parser& parser, Args& args) {
  const Arg& mapping = args.need(0, "mapping");
  args.find(1, "inverse_index_map");
  args.keyword("index_dtype");
  args.done();
  auto [vars, result] = apply_lambda(parser, mapping, {}, "T.index_map");
  return IndexMapNode::make(std::move(vars), std::move(result));
}

// T.Range(begin, end) or T.Range(end)
Value range_value(Parser& parser, Args& args) {
  const Arg& first = args.need(0, "begin");
  const Arg* second = args.find(1, "end");
  args.done();
  if (!second) {
    PrimExpr extent = parser.to_prim(first.value, first.place);
    return make_range(make_const_int(extent->dtype, 0), extent);
  }
  auto [begin, end] = parser.unify(first.value, second->value, args.place);
  return make_range(begin, tir::extent_to(begin, end));
}

namespace {
// "host" in a target's dictionary: a dictionary, or a target as a string
ir::Target parse_host(Parser& parser, const ObjectRef& value, Place place) {
  if (auto target = ref_as<ir::TargetNode>(value)) return target;
  if (const auto* dict = value.as<ir::DictNode>()) {
    AttrMap attrs = dict->items;
    ir::Target target = target::parse_target(attrs.get_string("kind", ""));
    for (const char* key : {"kind", "tag", "keys", "host"}) attrs.erase(key);
    return with(target, [&](ir::TargetNode& n) { n.attrs = attrs; });
  }
  return target::parse_target(parser.to_string(value, place, "the host"));
}
}  // namespace

// T.target({"kind": "llvm", ...}) or T.target("llvm -mcpu=...")
Value target_value(Parser& parser, Args& args) {
  const Arg& config = args.need(0, "config");
  const Arg* host = args.find(1, "host");
  args.done();
  ir::Target target, given_host;
  if (config.value.get<Mapping>()) {
    AttrMap attrs = parser.to_attrs(config.value, config.place);
    std::string kind = attrs.get_string("kind", "");
    target = target::parse_target(kind);
    attrs.erase("kind");
    attrs.erase("tag");
    if (ObjectRef inner = attrs.get("host"); inner && !host)
      given_host = parse_host(parser, inner, config.place);
    attrs.erase("host");
    std::vector<std::string> keys = target->keys;
    if (auto given = ref_as<ir::ArrayNode>(attrs.get("keys"))) {
      keys.clear();
      for (const ObjectRef& key : given->items) keys.push_back(parser.to_string(key, config.place, "a key"));
    }
    attrs.erase("keys");
    target = with(target, [&](ir::TargetNode& n) {
      n.attrs = attrs;
      n.keys = keys;
    });
  } else {
    target = target::parse_target(parser.to_string(config.value, config.place, "a target"));
  }
  if (host && !host->value.is_none()) {
    given_host = host->value.ref<ir::TargetNode>();
    if (!given_host)
      given_host = target::parse_target(parser.to_string(host->value, host->place, "the host"));
  }
  if (given_host) target = with(target, [&](ir::TargetNode& n) { n.host = given_host; });
  return target;
}

Value meta_var(Parser& parser, Args& args) {
  const Arg& value = args.need(0, "value");
  args.done();
  return value.value;
}

}  // namespace tilewright::script
