// B[i] = A[J[i]]  ->  if J[i] < 0 or J[i] >= 8: error; B[i] = A[J[i]]
// In functions with the attribute check_bounds, each access is checked at run time unless its indices are
// proved to be inside; so are regions of views, and memory that buffers are declared over.  Integer divisions
// in indices and extents whose divisor is not proved to be nonzero are checked there and in functions with
// the attribute check_divisions, because the processor would end the process.  Runs on blocks and buffers as
// they were written.  Accesses by functions in other languages are not checked.
#include "tilewright/lower/steps/check_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "tilewright/analysis/trip_count.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/bounds_conditions.h"
#include "tilewright/lower/common/bounds_error.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/text.h"

namespace tilewright::lower {
namespace {

PrimExpr both(const PrimExpr& a, const PrimExpr& b) { return a ? logical_and(a, b) : b; }

class Checker {
 public:
  Checker(std::string function, const PrimFunc& func, bool checks_accesses)
      : function_(std::move(function)), checks_accesses_(checks_accesses) {
    for (const Buffer& buffer : func->buffers) {
      if (!buffer) continue;
      own(buffer);
      for (const PrimExpr& extent : buffer->shape) {
        if (!is<IntImmNode>(extent)) analyzer_.require(extent >= 0);
      }
    }
  }

  Stmt stmt(const Stmt& node);
  Stmt body(const PrimFunc& func);
  size_t num_checks() const { return num_checks_; }

 private:
  // statements
  Stmt with_checks(const Stmt& node);
  Stmt sequence(const SeqStmtNode* node);
  Stmt loop(const For& node);
  Stmt while_loop(const WhileNode* node);
  Stmt branch(const IfThenElse& node);
  Stmt let(const LetStmt& node);
  Stmt attribute(const AttrStmt& node);
  Stmt inner(const Stmt& node);
  void own(const Buffer& buffer);
  void sizes(const Buffer& buffer);
  void memory(const Buffer& buffer, const Span& span);
  Stmt realize(const BlockRealize& node);
  Stmt block_part(const Block& block, const Stmt& part);
  void bind_axis(const IterVar& axis, const PrimExpr& value);
  // expressions
  void expr(const PrimExpr& node, const PrimExpr& path);
  void choice(const PrimExpr& condition, const PrimExpr& then, const PrimExpr& otherwise,
              const PrimExpr& path);
  bool call(const CallNode* node, const PrimExpr& path);
  void index(const PrimExpr& node, const PrimExpr& path);
  void division(const BinaryOpNode* node, const PrimExpr& path);
  bool left_before(const std::vector<PrimExpr>& facts);
  void access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const PrimExpr& mask,
              const PrimExpr& path, const Span& span);
  void index(const Buffer& buffer, size_t dim, const PrimExpr& index, const PrimExpr& value,
             const PrimExpr& path, const Span& span);
  void region(const MatchBufferRegion& view);
  void add(const PrimExpr& wrong, const PrimExpr& path, Stmt error);

  PrimExpr unproved(const PrimExpr& low, const PrimExpr& value, const PrimExpr& end);

  std::string function_;
  bool checks_accesses_;   // false: only divisions are checked
  bool in_index_ = false;  // inside an index or an extent
  PrimExpr chosen_;        // the condition under which a Select uses the value; null: always
  arith::Analyzer analyzer_;
  // conditions under which the function has been left with an error
  std::vector<std::vector<PrimExpr>> errors_;
  std::vector<Stmt> checks_;                           // to be placed before the current statement
  size_t num_checks_ = 0;                              // in all statements so far
  Span place_;                                         // of the innermost statement that has one
  std::unordered_map<const VarNode*, Buffer> owners_;  // the buffer that owns the memory, by its pointer
  // buffers that are known to lie in memory of their size
  std::unordered_set<const BufferNode*> known_;
};

Stmt Checker::stmt(const Stmt& node) {
  const Span outer = place_;
  if (node->span) place_ = node->span;
  std::vector<Stmt> outer_checks;
  std::swap(outer_checks, checks_);
  Stmt result = with_checks(node);
  if (!checks_.empty()) {
    checks_.push_back(result);
    result = seq(std::move(checks_));
  }
  checks_ = std::move(outer_checks);
  place_ = outer;
  return result;
}

// The statement with its inner statements checked; its own checks are in checks_.
Stmt Checker::with_checks(const Stmt& node) {
  return by_kind(
      node, [&](const SeqStmtNode* list) { return sequence(list); },
      [&](const ForNode* counted) { return loop(For(counted)); },
      [&](const WhileNode* open) { return while_loop(open); },
      [&](const IfThenElseNode* choice) { return branch(IfThenElse(choice)); },
      [&](const LetStmtNode* value) { return let(LetStmt(value)); },
      [&](const AttrStmtNode* attr) { return attribute(AttrStmt(attr)); },
      [&](const BlockRealizeNode* block) { return realize(BlockRealize(block)); },
      [&](const DeclBufferNode* view) {
        sizes(view->buffer);
        memory(view->buffer, place_);
        return inner(node);
      },
      [&](const AllocBufferNode* alloc) {
        own(alloc->buffer);
        sizes(alloc->buffer);
        return inner(node);
      },
      [&](const BufferStoreNode* store) {
        expr(store->value, nullptr);
        for (const PrimExpr& index : store->indices) this->index(index, nullptr);
        if (store->predicate) expr(store->predicate, nullptr);
        access(store->buffer, store->indices, store->predicate, nullptr, store->span);
        return node;
      },
      [&](const auto*) {
        for_each_part(node, [&](const PrimExpr& part) { expr(part, nullptr); }, [](const Stmt&) {});
        return inner(node);
      });
}

Stmt Checker::inner(const Stmt& node) {
  return with_inner(node, [&](const Stmt& part) { return stmt(part); });
}

// An assertion holds in the statements that follow it.
Stmt Checker::sequence(const SeqStmtNode* node) {
  const auto scope = analyzer_.enter();
  const size_t num_errors = errors_.size();
  std::vector<Stmt> items;
  bool is_changed = false;
  for (const Stmt& item : node->seq) {
    items.push_back(stmt(item));
    is_changed |= items.back() != item;
    if (const auto* assertion = item.as<AssertStmtNode>()) learn_condition(assertion->condition, analyzer_);
    if (auto conditions = error_conditions(item); !conditions.empty())
      errors_.push_back(std::move(conditions));
  }
  errors_.resize(num_errors);
  return is_changed ? seq(std::move(items)) : Stmt(node);
}

Stmt Checker::loop(const For& node) {
  index(node->min, nullptr);
  index(node->extent, nullptr);
  const size_t before = num_checks_;
  const auto scope = analyzer_.enter();
  if (is_stable(node->min) && is_stable(node->extent)) {
    analyzer_.bind(node->loop_var, make_range(node->min, node->extent));
    analysis::require_an_iteration(&analyzer_, node->extent);
  }
  Stmt body = stmt(node->body);
  if (body == node->body) return node;
  return with(node, [&](ForNode& n) {
    n.body = body;
    // tile instructions leave no room for checks
    if (num_checks_ != before) n.annotations.erase(std::string(kMatrixTiles));
  });
}

// while a: body  ->  while True: checks; if not a: break; body
Stmt Checker::while_loop(const WhileNode* node) {
  expr(node->condition, nullptr);
  std::vector<Stmt> items;
  std::swap(items, checks_);
  Stmt body = stmt(node->body);
  if (items.empty())
    return body == node->body ? Stmt(node) : Stmt(WhileNode::make(node->condition, body, node->span));
  items.push_back(IfThenElseNode::make(logical_not(node->condition),
                                       EvaluateNode::make(tir::call(kInt32, "tir.break_loop", {}))));
  items.push_back(body);
  return WhileNode::make(PrimExpr(bool_imm(true)), seq(std::move(items)), node->span);
}

Stmt Checker::branch(const IfThenElse& node) {
  expr(node->condition, nullptr);
  Stmt then_case, else_case = node->else_case;
  {
    const auto scope = analyzer_.enter();
    learn_condition(node->condition, analyzer_);
    then_case = stmt(node->then_case);
  }
  if (else_case) {
    const auto scope = analyzer_.enter();
    learn_condition(logical_not(node->condition), analyzer_);
    else_case = stmt(else_case);
  }
  if (then_case == node->then_case && else_case == node->else_case) return node;
  return with(node, [&](IfThenElseNode& n) { n.then_case = then_case, n.else_case = else_case; });
}

Stmt Checker::let(const LetStmt& node) {
  if (arith::is_index(node->value->dtype) && feeds_index(node->var.get(), node->body))
    index(node->value, nullptr);
  else
    expr(node->value, nullptr);
  const auto scope = analyzer_.enter();
  if (arith::is_index(node->value->dtype) && is_stable(node->value))
    analyzer_.require(equal(node->var, node->value));
  return inner(node);
}

Stmt Checker::attribute(const AttrStmt& node) {
  const auto* axis = node->node.as<IterVarNode>();
  const bool is_loop = axis && (node->attr_key == "thread_extent" || node->attr_key == "virtual_thread");
  if (is_loop)
    index(node->value, nullptr);
  else
    expr(node->value, nullptr);
  const auto scope = analyzer_.enter();
  if (is_loop && is_stable(node->value))
    analyzer_.bind(axis->var, make_range(make_const_int(node->value->dtype, 0), node->value));
  return inner(node);
}

void Checker::own(const Buffer& buffer) {
  owners_.emplace(buffer->data.get(), buffer);
  known_.insert(buffer.get());
}

void Checker::sizes(const Buffer& buffer) {
  for (const PrimExpr& extent : buffer->shape) index(extent, nullptr);
  for (const PrimExpr& stride : buffer->strides) index(stride, nullptr);
  if (buffer->elem_offset) index(buffer->elem_offset, nullptr);
}

// A buffer over the memory of another one must not end behind the end of that one.
void Checker::memory(const Buffer& buffer, const Span& span) {
  if (!checks_accesses_ || !known_.insert(buffer.get()).second) return;
  const auto owner = owners_.find(buffer->data.get());
  if (owner == owners_.end()) return;
  const PrimExpr needed = size_in_bits(buffer), given = size_in_bits(owner->second);
  const PrimExpr offset =
      buffer->elem_offset ? tir::cast(kInt64, buffer->elem_offset) : PrimExpr(imm(0, kInt64));
  const PrimExpr wrong = unproved(offset, needed, given + 1);
  if (!wrong) return;
  add(wrong, nullptr,
      raise_with_place(function_, span,
                       {fmt::format("buffer {} begins at element {} and ends at bit {} of buffer {}, which "
                                    "has {} bits",
                                    buffer->name, kNumber, kNumber, owner->second->name, kNumber),
                        {offset, needed, given}},
                       ""));
}

// ---- blocks

// The domain of an axis is known to hold if its value is proved to be in it; otherwise only the value counts.
void Checker::bind_axis(const IterVar& axis, const PrimExpr& value) {
  if (!axis->dom || !arith::is_index(axis->var->dtype)) return;
  const PrimExpr &min = axis->dom->min, end = axis->dom->min + axis->dom->extent;
  if (analyzer_.can_prove(value >= min) && analyzer_.can_prove(value < end))
    analyzer_.bind(axis->var, axis->dom);
  if (is_stable(value)) analyzer_.require(equal(axis->var, value));
}

Stmt Checker::realize(const BlockRealize& node) {
  const Block& block = node->block;
  expr(node->predicate, nullptr);
  const auto scope = analyzer_.enter();
  learn_condition(node->predicate, analyzer_);
  const PrimExpr path = is_one(node->predicate) ? PrimExpr() : node->predicate;
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    index(node->iter_values[n], path);
    bind_axis(block->iter_vars[n], node->iter_values[n]);
  }
  for (const Buffer& buffer : block->alloc_buffers) own(buffer), sizes(buffer);
  for (const MatchBufferRegion& view : block->match_buffers) known_.insert(view->buffer.get());
  const Stmt body = block_part(block, block->body);
  const Stmt init = block->init ? block_part(block, block->init) : Stmt();
  if (body == block->body && init == block->init) return node;
  const Block changed = with(block, [&](BlockNode& n) { n.body = body, n.init = init; });
  return with(node, [&](BlockRealizeNode& n) { n.block = changed; });
}

// The body or init of a block, with checks of its views.
Stmt Checker::block_part(const Block& block, const Stmt& part) {
  if (block->match_buffers.empty()) return stmt(part);
  std::vector<Stmt> outer;
  std::swap(outer, checks_);
  const auto scope = analyzer_.enter();
  for (const MatchBufferRegion& view : block->match_buffers) region(view);
  std::vector<Stmt> items;
  std::swap(items, checks_);
  const Stmt inner = stmt(part);
  std::swap(outer, checks_);
  if (items.empty()) return inner;
  items.push_back(inner);
  return seq(std::move(items));
}

// Checks that the region of a view is inside its buffer, and contains the view.
void Checker::region(const MatchBufferRegion& view) {
  const BufferRegion& source = view->source;
  const size_t num_leading = source->region.size() - view->buffer->shape.size();
  const std::string name = region_text(source);
  for (size_t dim = 0; dim < source->region.size(); ++dim) {
    const Range& range = source->region[dim];
    index(range->min, nullptr);
    index(range->extent, nullptr);
    const PrimExpr &extent = source->buffer->shape[dim], end = range->min + range->extent;
    const PrimExpr wrong = checks_accesses_ ? unproved(range->min, end, extent + 1) : PrimExpr();
    if (wrong) add(wrong, nullptr, raise_region(function_, place_, source, dim, {range->min, end, extent}));
    if (dim < num_leading) continue;
    const PrimExpr& wanted = view->buffer->shape[dim - num_leading];
    if (is<VarNode>(wanted) && is_stable(range->extent)) analyzer_.require(equal(wanted, range->extent));
    if (!checks_accesses_ || is<VarNode>(wanted) || analyzer_.can_prove(wanted <= range->extent)) continue;
    add(wanted > range->extent, nullptr,
        raise_with_place(
            function_, place_,
            {fmt::format("match_buffer: dimension {} of {} has extent {}, but its region {} has {}",
                         dim - num_leading, view->buffer->name, kNumber, name, kNumber),
             {wanted, range->extent}},
            ""));
  }
}

// ---- expressions

// path  the condition under which `node` is evaluated; null: always
void Checker::expr(const PrimExpr& node, const PrimExpr& path) {
  if (const auto* op = node.as<AndNode>()) {
    expr(op->a, path);
    return choice(op->a, op->b, nullptr, path);
  }
  if (const auto* op = node.as<OrNode>()) {
    expr(op->a, path);
    return choice(op->a, nullptr, op->b, path);
  }
  if (const auto* definition = node.as<LetNode>()) {
    expr(definition->value, path);
    return expr(substitute(definition->body, {{definition->var.get(), definition->value}}), path);
  }
  if (const auto* load = node.as<BufferLoadNode>()) {
    for (const PrimExpr& index : load->indices) this->index(index, path);
    if (load->predicate) expr(load->predicate, path);
    return access(load->buffer, load->indices, load->predicate, path, load->span);
  }
  if (const auto* op = node.as<SelectNode>(); op && op->condition->dtype.is_scalar()) {
    expr(op->condition, path);
    const PrimExpr outer = chosen_;
    for (const bool holds : {true, false}) {
      chosen_ = both(outer, holds ? op->condition : logical_not(op->condition));
      expr(holds ? op->true_value : op->false_value, path);
    }
    chosen_ = outer;
    return;
  }
  bool is_top = true;  // walk visits `node` itself first
  walk(node, [&](const PrimExprNode* child) {
    if (std::exchange(is_top, false)) {
      const auto* op = node.as<CallNode>();
      return !op || call(op, path);
    }
    expr(PrimExpr(child), path);
    return false;
  });
  const BinaryOpNode* open = in_index_ ? arith::as_open_division(node.get()) : nullptr;
  if (open) division(open, path);
}

// Checks `node`, which is an index or an extent.
void Checker::index(const PrimExpr& node, const PrimExpr& path) {
  const bool outer = std::exchange(in_index_, true);
  expr(node, path);
  in_index_ = outer;
}

// Divisions by vectors and by values from memory are computed like those of data: division by 0 gives 0.
void Checker::division(const BinaryOpNode* node, const PrimExpr& path) {
  const auto* vector = node->b.as<BroadcastNode>();
  const PrimExpr divisor = vector ? vector->value : node->b;
  if (!divisor->dtype.is_scalar() || (!checks_accesses_ && !is_stable(divisor))) return;
  const auto scope = analyzer_.enter();
  if (chosen_) learn_condition(chosen_, analyzer_);
  const PrimExpr where = chosen_ ? both(path, chosen_) : path;
  const Span& place = node->span ? node->span : place_;
  const PrimExpr is_zero = equal(divisor, make_const_int(divisor->dtype, 0));
  const PrimExpr is_not_zero = not_equal(divisor, make_const_int(divisor->dtype, 0));
  if (!analyzer_.can_prove(divisor >= 1) && !analyzer_.can_prove(is_not_zero) && !left_before({is_zero}))
    add(is_zero, where, raise_division_by_zero(function_, place, node));
  if (vector || !node->dtype.is_int()) return;
  const PrimExpr is_minus = equal(divisor, make_const_int(divisor->dtype, -1));
  const PrimExpr is_least = equal(node->a, min_value(node->dtype));
  if (!analyzer_.can_prove(divisor >= 0) && !analyzer_.can_prove(node->a > min_value(node->dtype)) &&
      !left_before({is_minus, is_least}))
    add(logical_and(is_minus, is_least), where, raise_division_overflow(function_, place, node));
}

// True if the function has reported an error before in case all of `facts` hold here.
bool Checker::left_before(const std::vector<PrimExpr>& facts) {
  const auto scope = analyzer_.enter();
  for (const PrimExpr& fact : facts) learn_condition(fact, analyzer_);
  return std::any_of(errors_.begin(), errors_.end(), [&](const std::vector<PrimExpr>& error) {
    return std::all_of(error.begin(), error.end(),
                       [&](const PrimExpr& condition) { return analyzer_.can_prove(condition); });
  });
}

// Checks the operands of `node` that are evaluated depending on `condition` (checked already); may be null.
void Checker::choice(const PrimExpr& condition, const PrimExpr& then, const PrimExpr& otherwise,
                     const PrimExpr& path) {
  const bool is_known = condition->dtype.is_scalar();  // with a vector condition each lane selects by itself
  for (const bool holds : {true, false}) {
    const PrimExpr& part = holds ? then : otherwise;
    if (!part) continue;
    const PrimExpr side = holds ? condition : logical_not(condition);
    const auto scope = analyzer_.enter();
    if (is_known) analyzer_.require(side);
    expr(part, is_known ? both(path, side) : path);
  }
}

// True if the arguments are evaluated like those of a function.
bool Checker::call(const CallNode* node, const PrimExpr& path) {
  if (is_if_then_else(node)) {
    expr(node->args[0], path);
    choice(node->args[0], node->args[1], node->args[2], path);
    return false;
  }
  // an address may point behind the end, and a prefetch from there does nothing
  if (!is_call_of(node, "tir.address_of") && !is_call_of(node, "tir.prefetch")) return true;
  if (const auto* load = node->args[0].as<BufferLoadNode>()) {
    for (const PrimExpr& index : load->indices) this->index(index, path);
  }
  return false;
}

void Checker::access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const PrimExpr& mask,
                     const PrimExpr& path, const Span& span) {
  if (!checks_accesses_) return;
  memory(buffer, span ? span : place_);
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const PrimExpr& at = indices[dim];
    const int64_t lanes = at->dtype.lanes;
    if (!mask && (lanes == 1 || is<RampNode>(at))) {
      // a ramp is inside if both of its ends are
      index(buffer, dim, at, lane(at, 0), path, span);
      if (lanes > 1) index(buffer, dim, at, lane(at, lanes - 1), path, span);
      continue;
    }
    const int64_t num_masks = mask ? static_cast<int64_t>(mask->dtype.lanes) : 1;
    for (int64_t n = 0; n < std::max(lanes, num_masks); ++n)
      index(buffer, dim, at, lane(at, n), mask ? both(path, lane(mask, n)) : path, span);
  }
}

// index: as written; value: a lane of it
void Checker::index(const Buffer& buffer, size_t dim, const PrimExpr& index, const PrimExpr& value,
                    const PrimExpr& path, const Span& span) {
  const PrimExpr number = arith::is_index(value->dtype) ? value : tir::cast(kInt64, value);
  const PrimExpr wrong = unproved(number, number, buffer->shape[dim]);
  if (!wrong) return;
  // a variable only has the span of its definition
  const bool has_place = index->span && !is<VarNode>(index);
  const Span& where = has_place ? index->span : span ? span : place_;
  const PrimExpr& shown = value->dtype == DataType::uint(64) ? value : arith::in_int64(number);
  add(wrong, path, raise_outside(function_, where, buffer, dim, index, shown));
}

void Checker::add(const PrimExpr& wrong, const PrimExpr& path, Stmt error) {
  ++num_checks_;
  checks_.push_back(IfThenElseNode::make(both(path, wrong), std::move(error)));
}

// The negation of the part of  low >= 0 and value < end  that is not proved; null if both are proved.
PrimExpr Checker::unproved(const PrimExpr& low, const PrimExpr& value, const PrimExpr& end) {
  PrimExpr wrong;
  if (!analyzer_.can_prove(low >= 0)) wrong = arith::in_int64(low) < 0;
  if (analyzer_.can_prove(value < end)) return wrong;
  const PrimExpr is_beyond = arith::in_int64(value) >= end;
  return wrong ? logical_or(wrong, is_beyond) : is_beyond;
}

Stmt Checker::body(const PrimFunc& func) {
  for (const Buffer& buffer : func->buffers) {
    if (buffer) sizes(buffer);
  }
  std::vector<Stmt> items;
  std::swap(items, checks_);
  items.push_back(stmt(func->body));
  return items.size() == 1 ? items[0] : seq(std::move(items));
}

PrimFunc check_bounds(const PrimFunc& func) {
  const bool checks_accesses = func->attrs.contains(kCheckBounds);
  const std::string attr(checks_accesses ? kCheckBounds : kCheckDivisions);
  if (!func->attrs.contains(attr)) return func;
  Checker checker(func->attrs.get_string(attr, "main"), func, checks_accesses);
  Stmt body = checker.body(func);
  return with(func, [&](PrimFuncNode& changed) {
    changed.body = body;
    changed.attrs.erase(attr);
  });
}

}  // namespace

bool may_divide_by_zero(const std::string& name, const PrimFunc& func) {
  bool has_open_division = false;
  walk(func,
       [&](const PrimExprNode* node) { has_open_division |= arith::as_open_division(node) != nullptr; });
  if (!has_open_division) return false;
  Checker checker(name, func, false);
  checker.body(func);
  return checker.num_checks() > 0;
}

extern constinit const StepInfo check_bounds_info = {
    .name = "check_bounds",
    .doc =
        "in functions built with `check_bounds`, accesses that are not proved to be in their "
        "buffers have a check before them; divisions in indices and extents by what may be 0 "
        "there, and in any function where a condition guards them",
    .uses = kManyDimensions,
    .run = without_options<check_bounds>,
};

}  // namespace tilewright::lower
