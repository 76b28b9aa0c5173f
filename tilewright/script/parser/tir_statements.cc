// Statements written as calls: T.attr, T.launch_thread, T.LetStmt, T.Assert, T.evaluate, T.buffer_store.
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_functions.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {

// T.attr(node, key, value): holds for the statements that follow
Value attr(Parser& parser, Args& args) {
  const Arg& node_arg = args.need(0, "node");
  const Arg& key_arg = args.need(1, "attr_key");
  const Arg& value_arg = args.need(2, "value");
  args.done();
  ObjectRef node = node_arg.value.is_number() ? ObjectRef(parser.to_prim(node_arg.value, node_arg.place))
                                              : parser.to_object(node_arg.value, node_arg.place);
  const std::string key = parser.to_string(key_arg.value, key_arg.place, "the attribute's name");
  const PrimExpr value = parser.to_prim(value_arg.value, value_arg.place);
  if (const auto* axis = node.as<IterVarNode>()) parser.tir->defined.insert(axis->var.get());
  const Span span = args.span;
  parser.tir->out->open([=](tir::Stmt body) -> tir::Stmt {
    return AttrStmtNode::make(node, key, value, std::move(body), span);
  });
  return {};
}

namespace {

IterVar thread_axis(const tir::Var& var, std::string tag) {
  return IterVarNode::make(var, ir::Range(), IterType::kThread, std::move(tag));
}

Value open_thread(Parser& parser, const IterVar& axis, const PrimExpr& extent, const Args& args) {
  TirState& state = *parser.tir;
  state.defined.insert(axis->var.get());
  state.loops[axis->var.get()] = {make_const_int(axis->var->dtype, 0), extent, args.span};
  const Span span = args.span;
  state.out->open([=](tir::Stmt body) -> tir::Stmt {
    return AttrStmtNode::make(axis, std::string("thread_extent"), extent, std::move(body), span);
  });
  state.fresh.insert(axis->var.get());
  return axis->var;
}

}  // namespace

// tx = T.launch_thread("threadIdx.x", 128), or T.launch_thread(tx, 128) of a T.env_thread
Value launch_thread(Parser& parser, Args& args) {
  const Arg& thread = args.need(0, "thread");
  const Arg& extent_arg = args.need(1, "extent");
  args.done();
  PrimExpr extent = parser.to_prim(extent_arg.value, extent_arg.place);
  if (!extent->dtype.is_integral())
    throw UserError(parser.span(extent_arg.place), "an extent has dtype {}, expected an integer",
                    extent->dtype.str());
  if (const auto* tag = thread.value.get<std::string>()) {
    tir::Var var = make_var(std::string(args.hint().empty() ? *tag : args.hint()), extent->dtype, args.span);
    return open_thread(parser, thread_axis(var, *tag), extent, args);
  }
  if (auto axis = thread.value.ref<IterVarNode>()) return open_thread(parser, axis, extent, args);
  const auto* var = thread.value.node<tir::VarNode>();
  auto known = var ? parser.tir->env_threads.find(var) : parser.tir->env_threads.end();
  if (known == parser.tir->env_threads.end())
    throw UserError(parser.span(thread.place),
                    "expected a thread such as \"threadIdx.x\", or a variable of T.env_thread, found {}",
                    describe(thread.value));
  if (var->dtype != extent->dtype)
    extent = parser.to_dtype(extent_arg.value, var->dtype, extent_arg.place, "the extent");
  Value result = open_thread(parser, known->second, extent, args);
  parser.tir->fresh.erase(var);
  return args.hint().empty() ? Value() : result;
}

// tx = T.env_thread("threadIdx.x"): declared here, launched later
Value env_thread(Parser& parser, Args& args) {
  const Arg& tag = args.need(0, "thread_tag");
  const Arg* dtype = args.find(1, "dtype");
  args.done();
  const std::string name = parser.to_string(tag.value, tag.place, "a thread");
  tir::Var var = make_var(std::string(args.hint().empty() ? name : args.hint()),
                          dtype ? parser.to_data_type(dtype->value, dtype->place) : kInt32, args.span);
  parser.tir->declared.emplace_back(var, args.span);
  parser.tir->fresh.insert(var.get());
  parser.tir->env_threads[var.get()] = thread_axis(var, name);
  return var;
}

// T.iter_var(var, dom, "DataPar" | "CommReduce" | "ThreadIndex" | ..., thread_tag): the node of a T.attr
Value iter_var(Parser& parser, Args& args) {
  const Arg& var_arg = args.need(0, "var");
  const Arg& dom_arg = args.need(1, "dom");
  const Arg& kind_arg = args.need(2, "iter_type");
  const Arg* tag = args.find(3, "thread_tag");
  args.done();
  auto var = var_arg.value.ref<tir::VarNode>();
  if (!var)
    throw UserError(parser.span(var_arg.place), "expected a variable, found {}", describe(var_arg.value));
  ir::Range dom = dom_arg.value.ref<ir::RangeNode>();
  if (const auto* pair = dom_arg.value.get<Sequence>(); pair && pair->items.size() == 2) {
    auto [begin, end] = parser.unify(pair->items[0], pair->items[1], dom_arg.place);
    dom = make_range(begin, tir::extent_to(begin, end));
  }
  const std::string kind = parser.to_string(kind_arg.value, kind_arg.place, "the kind of an axis");
  constexpr std::pair<std::string_view, IterType> kKinds[] = {{"DataPar", IterType::kSpatial},
                                                              {"CommReduce", IterType::kReduce},
                                                              {"Ordered", IterType::kScan},
                                                              {"Opaque", IterType::kOpaque},
                                                              {"ThreadIndex", IterType::kThread}};
  for (const auto& [name, type] : kKinds) {
    if (name == kind)
      return IterVarNode::make(var, dom, type,
                               tag ? parser.to_string(tag->value, tag->place, "thread_tag") : std::string());
  }
  throw UserError(parser.span(kind_arg.place),
                  "\"{}\" is not a kind of axis; they are DataPar, CommReduce, Ordered, Opaque, ThreadIndex",
                  kind);
}

// "text", or ("RuntimeError", ["te", "xt"]) since 2026; all errors of compiled code have one type
std::string assert_message(Parser& parser, const Value& value, Place place) {
  const auto* pair = value.get<Sequence>();
  if (!pair || pair->items.size() != 2) return parser.to_string(value, place, "the message");
  const std::string kind = parser.to_string(pair->items[0], place, "the kind of the error");
  if (kind != "RuntimeError")
    throw Unsupported(parser.span(place), "an assertion that raises a {}", kind)
        .help("leave the kind out: assert condition, \"text\"");
  std::string text;
  for (const Value& part : parser.to_sequence(pair->items[1], place, "the parts of the message").items)
    text += parser.to_string(part, place, "a part of the message");
  return text;
}

// T.Assert(condition, message)
Value assert_stmt(Parser& parser, Args& args) {
  const Arg& condition = args.need(0, "condition");
  const Arg* message = args.find(1, "message");
  args.done();
  std::string text = message ? assert_message(parser, message->value, message->place) : "assertion failed";
  parser.tir->out->add(
      AssertStmtNode::make(parser.to_bool(condition.value, condition.place), std::move(text), args.span));
  return {};
}

Value evaluate(Parser& parser, Args& args) {
  const Arg& value = args.need(0, "value");
  args.done();
  parser.tir->out->add(EvaluateNode::make(parser.to_prim(value.value, value.place), args.span));
  return {};
}

// T.buffer_store(A, value, [i, j], predicate)
Value buffer_store(Parser& parser, Args& args) {
  const Arg& buffer_arg = args.need(0, "buffer");
  const Arg& value = args.need(1, "value");
  const Arg& indices_arg = args.need(2, "indices");
  const Arg* predicate = args.find(3, "predicate");
  args.done();
  auto buffer = buffer_arg.value.ref<BufferNode>();
  if (!buffer)
    throw UserError(parser.span(buffer_arg.place), "expected a buffer, found {}", describe(buffer_arg.value));
  std::vector<PrimExpr> indices = parser.to_prims(indices_arg.value, indices_arg.place);
  DataType dtype = buffer->dtype;
  if (!indices.empty()) dtype = dtype.with_lanes(dtype.lanes * indices.back()->dtype.lanes);
  PrimExpr stored = parser.to_dtype(value.value, dtype, value.place, "buffer " + buffer->name);
  PrimExpr mask = predicate && !predicate->value.is_none()
                      ? parser.to_prim(predicate->value, predicate->place)
                      : PrimExpr();
  parser.tir->out->add(BufferStoreNode::make(buffer, stored, std::move(indices), mask, args.span));
  return {};
}

// x = T.LetStmt(value), with T.LetStmt(value, var=x):, with T.let(x, value):
Value let_stmt(Parser& parser, Args& args) {
  const bool names_first = args.size() == 2;
  const Arg& first = args.need(0, names_first ? "var" : "value");
  const Arg* second = names_first ? args.find(1, "value") : args.keyword("var");
  const Arg* type = args.keyword("type_annotation");
  args.done();
  const Arg& value_arg = names_first ? *second : first;
  const Arg* var_arg = names_first ? &first : second;
  PrimExpr value = parser.to_prim(value_arg.value, value_arg.place);
  tir::Var var;
  if (var_arg && !var_arg->value.is_none()) {
    var = var_arg->value.ref<tir::VarNode>();
    if (!var)
      throw UserError(parser.span(var_arg->place), "expected a variable, found {}", describe(var_arg->value));
    value = parser.to_dtype(value_arg.value, var->dtype, value_arg.place, "variable " + var->name_hint);
  } else {
    ir::Type annotation = type ? type->value.ref<ir::TypeNode>() : ir::Type();
    var = tir::VarNode::make(std::string(args.hint().empty() ? "v" : args.hint()), value->dtype, annotation,
                             args.span);
    parser.tir->fresh.insert(var.get());
  }
  parser.tir->defined.insert(var.get());
  const Span span = args.span;
  parser.tir->out->open(
      [=](tir::Stmt body) -> tir::Stmt { return LetStmtNode::make(value, var, std::move(body), span); });
  return var;
}

}  // namespace tilewright::script
