// for i in range(...), T.grid(...), T.serial(...), T.thread_binding(...)
#include <algorithm>

#include "tilewright/script/parser/tir_parser.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/range_end.h"

namespace tilewright::script {
using ast::Expr;
using ast::ExprKind;
namespace {

struct LoopKind {
  std::string_view path;
  ForKind kind;
};
constexpr LoopKind kLoops[] = {{"range", ForKind::kSerial},
                               {"tir.serial", ForKind::kSerial},
                               {"tir.parallel", ForKind::kParallel},
                               {"tir.vectorized", ForKind::kVectorized},
                               {"tir.unroll", ForKind::kUnrolled},
                               {"tir.unrolled", ForKind::kUnrolled},
                               {"tir.thread_binding", ForKind::kThreadBinding}};

// min and extent of begin:end, of one integer dtype
std::pair<PrimExpr, PrimExpr> bounds(Parser& parser, const Value& begin, const Value& end, Place place) {
  auto [first, last] = parser.unify(begin, end, place);
  if (!first->dtype.is_integral() || !first->dtype.is_scalar())
    throw UserError(parser.span(place), "the bounds of a loop have dtype {}, expected an integer",
                    first->dtype.str());
  return {first, tir::extent_to(first, last)};
}

}  // namespace

tir::Var TirParser::define_loop(const Expr* target, DataType dtype, const LoopInfo& info) {
  if (target->kind != ExprKind::kName)
    throw UserError(parser_.span(target), "a loop variable must be a name");
  tir::Var var = make_var(std::string(target->text), dtype, parser_.span(target));
  state_.loops[var.get()] = info;
  state_.defined.insert(var.get());
  return var;
}

void TirParser::parse_for(const ast::Stmt* stmt) {
  const Expr* iter = stmt->value;
  if (iter->kind == ExprKind::kCall) {
    const Expr* callee = iter->items[0];
    const bool is_range =
        callee->kind == ExprKind::kName && callee->text == "range" && !parser_.names.find("range");
    const std::string path = is_range ? "range" : parser_.path_of(callee);
    const bool is_loop = path == "tir.grid" || std::any_of(std::begin(kLoops), std::end(kLoops),
                                                           [&](const LoopKind& k) { return k.path == path; });
    if (is_loop) {
      Args args = parser_.eval_args(iter, {});
      return path == "tir.grid" ? parse_grid(stmt, args) : parse_loop(stmt, path, args);
    }
  }
  throw UserError(parser_.span(iter),
                  "a loop of TIR runs over range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or "
                  "T.thread_binding");
}

void TirParser::parse_grid(const ast::Stmt* stmt, Args& args) {
  const Expr* target = stmt->targets[0];
  std::vector<const Expr*> targets{target};
  if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList) targets = target->items;
  const std::vector<const Arg*> extents = args.rest(0);
  args.done();
  if (extents.size() != targets.size())
    throw UserError(parser_.span(target), "{} for {}", count_text(targets.size(), "loop variable"),
                    count_text(extents.size(), "loop"));
  std::vector<std::pair<tir::Var, LoopInfo>> loops;
  FrameGuard frame(&parser_.names);
  for (size_t n = 0; n < extents.size(); ++n) {
    Value begin(0), end = extents[n]->value;
    if (const auto* pair = end.get<Sequence>(); pair && pair->items.size() == 2)
      std::tie(begin, end) = std::pair(pair->items[0], Value(pair->items[1]));
    auto [first, extent] = bounds(parser_, begin, end, extents[n]->place);
    LoopInfo info{first, extent, parser_.span(extents[n]->place)};
    loops.emplace_back(define_loop(targets[n], extent->dtype, info), info);
  }
  for (size_t n = 0; n < loops.size(); ++n) {
    if (parser_.names.lookup_here(targets[n]->text) && targets[n]->text != "_")
      throw UserError(parser_.span(targets[n]), "two loops are called {}", targets[n]->text);
    parser_.names.define(targets[n]->text, loops[n].first, targets[n]->place);
  }
  tir::Stmt body = parse_scope(stmt->body);
  for (size_t n = loops.size(); n-- > 0;)
    body = ForNode::make(loops[n].second.min, loops[n].second.extent, loops[n].first, ForKind::kSerial,
                         std::string(), AttrMap(), body, parser_.tree.span(stmt));
  state_.out->add(body);
}

void TirParser::parse_loop(const ast::Stmt* stmt, std::string_view path, Args& args) {
  ForKind kind = ForKind::kSerial;
  for (const LoopKind& entry : kLoops) {
    if (entry.path == path) kind = entry.kind;
  }
  const Arg& first = args.need(0, path == "range" ? "end" : "start");
  const Arg* second = args.find(1, "stop");
  std::string thread;
  if (kind == ForKind::kThreadBinding) {
    // T.thread_binding(32, "threadIdx.x") and T.thread_binding(0, 32, thread="threadIdx.x")
    const bool is_short = second && second->name.empty() && second->value.get<std::string>();
    const Arg* tag = is_short ? second : args.find(2, "thread");
    if (!tag)
      throw UserError(args.span, "{}: argument thread is missing", args.function)
          .help("as in T.thread_binding(32, thread=\"threadIdx.x\")");
    thread = parser_.to_string(tag->value, tag->place, "thread");
    if (is_short) second = nullptr;
  }
  const Arg* step_arg = kind == ForKind::kThreadBinding ? nullptr : args.find(2, "step");
  AttrMap annotations;
  if (const Arg* arg = args.keyword("annotations")) annotations = parser_.to_attrs(arg->value, arg->place);
  args.done();
  auto [min, extent] = second && !second->value.is_none()
                           ? bounds(parser_, first.value, second->value, first.place.to(second->place))
                           : bounds(parser_, Value(0), first.value, first.place);
  PrimExpr step = step_arg && !step_arg->value.is_none()
                      ? parser_.to_dtype(step_arg->value, extent->dtype, step_arg->place, "the step")
                      : PrimExpr();
  if (step && is_one(step)) step = nullptr;
  const Expr* target = stmt->targets[0];
  FrameGuard frame(&parser_.names);
  if (step) {  // i = min + n * step for n in range(ceil(extent / step))
    int64_t constant;
    if (!as_const_int(step, &constant))
      throw Unsupported(parser_.span(step_arg->place), "a loop whose step is not a constant");
    if (constant == 0) throw UserError(parser_.span(step_arg->place), "a loop with step 0");
    PrimExpr length = constant > 0 ? extent : make_const_int(extent->dtype, 0) - extent;
    extent = ceildiv(length, make_const_int(extent->dtype, constant > 0 ? constant : -constant));
    LoopInfo info{make_const_int(extent->dtype, 0), extent, parser_.span(stmt->value)};
    tir::Var var = define_loop(target, extent->dtype, info);
    parser_.names.define(target->text, min + var * step, target->place);
    return state_.out->add(ForNode::make(info.min, extent, var, kind, thread, annotations,
                                         parse_scope(stmt->body), parser_.tree.span(stmt)));
  }
  LoopInfo info{min, extent, parser_.span(stmt->value)};
  tir::Var var = define_loop(target, extent->dtype, info);
  parser_.names.define(target->text, var, target->place);
  tir::Stmt body = parse_scope(stmt->body);
  state_.out->add(ForNode::make(min, extent, var, kind, thread, annotations, body, parser_.tree.span(stmt)));
}

}  // namespace tilewright::script
