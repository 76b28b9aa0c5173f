// Blocks: with T.block(...), T.init(), axes, T.reads / T.writes, T.where, attributes.
#include "tilewright/analysis/regions.h"
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_parser.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {

void TirParser::parse_block(const ast::Stmt* stmt, size_t item, const ast::Expr* call) {
  Args args = parser_.eval_args(call, {});
  BlockState block;
  block.span = parser_.span(call);
  if (const Arg* name = args.find(0, "name_hint"))
    block.name = parser_.to_string(name->value, name->place, "the block's name");
  const Arg* no_realize = args.find(1, "no_realize");
  const Arg* exec_scope = args.keyword("exec_scope");
  args.done();
  if ((no_realize && parser_.to_flag(no_realize->value, no_realize->place, "no_realize")) || exec_scope)
    throw Unsupported(args.span, "{} with {}", args.function, exec_scope ? "exec_scope" : "no_realize");
  if (stmt->items[item].target)
    throw UserError(parser_.span(stmt->items[item].target), "a block has no value")
        .help("name its axes inside: vi = T.axis.spatial(128, i)");
  FrameGuard frame(&parser_.names);
  StmtList list;
  StmtList* outer = std::exchange(state_.out, &list);
  state_.blocks.push_back(&block);
  if (item + 1 < stmt->items.size())
    parse_with(stmt, item + 1);
  else
    parse_body(stmt->body);
  state_.blocks.pop_back();
  state_.out = outer;
  finish_block(std::move(block), list.close());
}

void TirParser::parse_init(const ast::Stmt* stmt, size_t item) {
  const Span where = parser_.span(stmt->items[item].value);
  if (state_.blocks.empty()) throw UserError(where, "T.init is allowed only inside a block");
  BlockState& block = *state_.blocks.back();
  if (block.init) throw UserError(where, "block \"{}\" has T.init twice", block.name);
  FrameGuard frame(&parser_.names);
  StmtList list;
  StmtList* outer = std::exchange(state_.out, &list);
  if (item + 1 < stmt->items.size())
    parse_with(stmt, item + 1);
  else
    parse_body(stmt->body);
  state_.out = outer;
  block.init = list.close();
}

void TirParser::finish_block(BlockState&& block, tir::Stmt body) {
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values;
  for (const AxisWritten& axis : block.axes) {
    if (state_.check_well_formed) check_axis(block, axis);
    axes.push_back(axis.axis);
    values.push_back(axis.value);
  }
  const Span span = block.span;
  Block node = BlockNode::make(
      block.name, std::move(axes), std::move(block.alloc_buffers),
      block.reads.value_or(std::vector<BufferRegion>()), block.writes.value_or(std::vector<BufferRegion>()),
      std::move(block.match_buffers), std::move(block.annotations), block.init, std::move(body), span);
  if (!block.reads || !block.writes) {
    analysis::AccessRegions found = analysis::access_regions(node);
    node = with(node, [&](BlockNode& n) {
      if (!block.reads) n.reads = std::move(found.reads);
      if (!block.writes) n.writes = std::move(found.writes);
    });
  }
  if (state_.blocks.empty()) {
    state_.top_block = node;
    state_.top_reads_found = !block.reads;
    state_.top_writes_found = !block.writes;
  }
  PrimExpr predicate = block.predicate ? block.predicate : PrimExpr(bool_imm(true));
  state_.out->add(BlockRealizeNode::make(std::move(values), predicate, node, span));
}

// An axis bound to a loop variable alone must have the loop's range, unless T.where
// restricts the block anyway.
void TirParser::check_axis(const BlockState& block, const AxisWritten& axis) {
  const auto* var = axis.value.as<tir::VarNode>();
  auto loop = var ? state_.loops.find(var) : state_.loops.end();
  if (loop == state_.loops.end() || block.predicate || axis.axis->iter_type == IterType::kOpaque) return;
  int64_t min, extent, loop_min, loop_extent;
  const ir::Range& dom = axis.axis->dom;
  if (!as_const_int(dom->min, &min) || !as_const_int(dom->extent, &extent) ||
      !as_const_int(loop->second.min, &loop_min) || !as_const_int(loop->second.extent, &loop_extent))
    return;
  if (min == loop_min && extent == loop_extent) return;
  auto shown = [](int64_t first, int64_t count) {
    return first == 0 ? fmt::format("{}", count) : fmt::format("{} from {}", count, first);
  };
  throw UserError(axis.span, "block axis {} has domain {}, but loop {} runs over {} values",
                  axis.axis->var->name_hint, shown(min, extent), var->name_hint, shown(loop_min, loop_extent))
      .note(loop->second.span, "loop {} is defined here", var->name_hint)
      .help("give both the same extent, or say with T.where(...) for which values the block runs");
}

// ---- statements inside a block

namespace {

BlockState& block_of(Parser& parser, const Args& args) {
  if (parser.tir->blocks.empty())
    throw UserError(args.span, "{} is allowed only inside a block", args.function);
  return *parser.tir->blocks.back();
}

std::vector<BufferRegion> regions_of(Parser& parser, Args& args) {
  std::vector<BufferRegion> result;
  for (const Arg* arg : args.rest(0)) {
    if (const auto* list = arg->value.get<Sequence>()) {
      for (const Value& item : list->items) result.push_back(to_region(parser, item, arg->place));
    } else {
      result.push_back(to_region(parser, arg->value, arg->place));
    }
  }
  args.done();
  return result;
}

ir::Range domain_of(Parser& parser, const Arg& arg, DataType dtype) {
  if (const auto* range = arg.value.ref<ir::RangeNode>().get()) return ir::Range(range);
  const auto* pair = arg.value.get<Sequence>();
  if (!pair) {
    PrimExpr extent = parser.to_prim(arg.value, arg.place,
                                     arg.value.get<Value::PyInt>() ? std::optional(dtype) : std::nullopt);
    return make_range(make_const_int(extent->dtype, 0), extent);
  }
  if (pair->items.size() != 2)
    throw UserError(parser.span(arg.place), "the domain of an axis is an extent or (begin, end)");
  auto [begin, end] = parser.unify(pair->items[0], pair->items[1], arg.place);
  if (pair->items[0].is_number() && pair->items[1].is_number()) {
    begin = parser.to_prim(pair->items[0], arg.place, dtype);
    end = parser.to_prim(pair->items[1], arg.place, dtype);
  }
  return make_range(begin, tir::extent_to(begin, end));
}

Value define_axis(Parser& parser, const Args& args, std::string_view name, ir::Range dom, PrimExpr value,
                  IterType type) {
  BlockState& block = block_of(parser, args);
  const DataType dtype = dom->extent->dtype;
  if (!dtype.is_integral() || !dtype.is_scalar())
    throw UserError(args.span, "the domain of an axis has dtype {}, expected an integer", dtype.str());
  if (!value->dtype.is_integral() || !value->dtype.is_scalar())
    throw UserError(args.span, "the value of an axis has dtype {}, expected an integer", value->dtype.str());
  for (const AxisWritten& other : block.axes) {
    if (!name.empty() && name != "_" && other.axis->var->name_hint == name)
      throw UserError(args.span, "block \"{}\" has two axes called {}", block.name, name)
          .note(other.span, "the first is defined here");
  }
  tir::Var var = make_var(std::string(name.empty() ? "v" : name), dtype, args.span);
  parser.tir->defined.insert(var.get());
  parser.tir->fresh.insert(var.get());
  block.axes.push_back(
      {IterVarNode::make(var, std::move(dom), type, std::string()), std::move(value), args.span});
  return var;
}

Value axis(Parser& parser, Args& args, IterType type) {
  const Arg& dom = args.need(0, "dom");
  const Arg& binding = args.need(1, "binding");
  const Arg* dtype_arg = args.find(2, "dtype");
  args.done();
  PrimExpr value = parser.to_prim(binding.value, binding.place);
  const DataType dtype = dtype_arg ? parser.to_data_type(dtype_arg->value, dtype_arg->place) : value->dtype;
  if (!dtype.is_integral())
    throw UserError(parser.span(binding.place), "the value of an axis has dtype {}, expected an integer",
                    dtype.str());
  ir::Range range = domain_of(parser, dom, dtype);
  if (binding.value.is_number()) value = parser.to_prim(binding.value, binding.place, range->extent->dtype);
  return define_axis(parser, args, args.hint(), std::move(range), std::move(value), type);
}

}  // namespace

Value axis_spatial(Parser& parser, Args& args) { return axis(parser, args, IterType::kSpatial); }
Value axis_reduce(Parser& parser, Args& args) { return axis(parser, args, IterType::kReduce); }
Value axis_scan(Parser& parser, Args& args) { return axis(parser, args, IterType::kScan); }
Value axis_opaque(Parser& parser, Args& args) { return axis(parser, args, IterType::kOpaque); }

// vi, vj, vk = T.axis.remap("SSR", [i, j, k]): each axis has its loop's range
Value axis_remap(Parser& parser, Args& args) {
  const Arg& kinds_arg = args.need(0, "kinds");
  const Arg& bindings = args.need(1, "bindings");
  args.find(2, "dtype");
  args.done();
  const std::string kinds = parser.to_string(kinds_arg.value, kinds_arg.place, "the kinds of the axes");
  const std::vector<PrimExpr> values = parser.to_prims(bindings.value, bindings.place);
  if (kinds.size() != values.size())
    throw UserError(args.span, "T.axis.remap: \"{}\" names {} axes, but {} loops are given", kinds,
                    kinds.size(), values.size());
  Sequence result{{}, true};
  for (size_t n = 0; n < values.size(); ++n) {
    const auto* var = values[n].as<tir::VarNode>();
    auto loop = var ? parser.tir->loops.find(var) : parser.tir->loops.end();
    if (loop == parser.tir->loops.end())
      throw UserError(parser.span(bindings.place), "T.axis.remap takes loop variables, entry {} is none", n)
          .help("write T.axis.spatial(extent, value)");
    IterType type = IterType::kSpatial;
    switch (kinds[n]) {
      case 'S': break;
      case 'R': type = IterType::kReduce; break;
      case 'C': type = IterType::kScan; break;
      case 'O': type = IterType::kOpaque; break;
      default:
        throw UserError(parser.span(kinds_arg.place),
                        "T.axis.remap: '{}' is not a kind of axis; they are S (spatial), R (reduce), C "
                        "(scan), O (opaque)",
                        kinds[n]);
    }
    result.items.push_back(define_axis(parser, args, args.hint(n),
                                       make_range(loop->second.min, loop->second.extent), values[n], type));
  }
  if (result.items.size() == 1 && args.hints.size() <= 1) return result.items[0];
  return result;
}

Value reads(Parser& parser, Args& args) {
  BlockState& block = block_of(parser, args);
  if (block.reads) throw UserError(args.span, "block \"{}\" has T.reads twice", block.name);
  block.reads = regions_of(parser, args);
  return {};
}

Value writes(Parser& parser, Args& args) {
  BlockState& block = block_of(parser, args);
  if (block.writes) throw UserError(args.span, "block \"{}\" has T.writes twice", block.name);
  block.writes = regions_of(parser, args);
  return {};
}

Value where(Parser& parser, Args& args) {
  BlockState& block = block_of(parser, args);
  const Arg& condition = args.need(0, "predicate");
  args.done();
  if (block.predicate) throw UserError(args.span, "block \"{}\" has T.where twice", block.name);
  block.predicate = parser.to_bool(condition.value, condition.place);
  return {};
}

Value block_attr(Parser& parser, Args& args) {
  BlockState& block = block_of(parser, args);
  const Arg& attrs = args.need(0, "attrs");
  args.done();
  for (const auto& [key, value] : parser.to_attrs(attrs.value, attrs.place))
    block.annotations.set(key, value);
  return {};
}

Value func_attr(Parser& parser, Args& args) {
  const Arg& attrs = args.need(0, "attrs");
  args.done();
  for (const auto& [key, value] : parser.to_attrs(attrs.value, attrs.place))
    parser.tir->attrs.set(key, value);
  return {};
}

}  // namespace tilewright::script
