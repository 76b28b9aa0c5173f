// Finds the iterations of a nest that touch the same elements.
#include "tilewright/schedule/legality/dependence.h"

#include <algorithm>

#include "tilewright/analysis/update.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/legality/digits.h"
#include "tilewright/schedule/legality/witness.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::schedule {
namespace {

// A box that moves with the loops: in dimension n it starts at min[n] and has width[n] elements.
struct Tile {
  std::vector<PrimExpr> min, width;
};

void used_vars(const PrimExpr& expr, std::unordered_map<const VarNode*, bool>* used) {
  walk(expr, [&](const VarNode* var) { (*used)[var] = true; });
}

// The parts of `predicate` that do not use loops outside of the group, in which two iterations may differ.
// None if it reads memory, which the nest may write.
PrimExpr conditions_of_group(const PrimExpr& predicate, const arith::IterRanges& ranges,
                             const std::vector<bool>& in_group) {
  bool is_plain = true;
  walk(
      predicate, [&](const BufferLoadNode*) { is_plain = false; },
      [&](const CallNode*) { is_plain = false; });
  PrimExpr found = bool_imm(true);
  if (!is_plain) return found;
  for (const PrimExpr& condition : arith::conjuncts(predicate)) {
    bool is_ours = true;
    for (size_t n = 0; n < ranges.size(); ++n)
      is_ours = is_ours && (in_group[n] || !uses(condition, ranges[n].first.get()));
    if (is_ours) found = logical_and(found, condition);
  }
  return found;
}

// The loops whose values follow from the element.  Groups of dimensions that share loops are taken together;
// a group counts if (loops, place in the tile) -> element is one to one where `predicate` holds.
std::vector<NodeId> pinned_loops(const Tile& tile, const std::vector<NodeId>& loops,
                                 const arith::IterRanges& ranges, const PrimExpr& predicate,
                                 arith::Analyzer& analyzer) {
  const size_t ndim = tile.min.size();
  std::vector<std::unordered_map<const VarNode*, bool>> used(ndim);
  for (size_t n = 0; n < ndim; ++n) used_vars(tile.min[n], &used[n]);
  std::vector<bool> is_done(loops.size(), false);
  std::vector<NodeId> pinned;
  for (size_t first = 0; first < loops.size(); ++first) {
    if (is_done[first]) continue;
    std::vector<bool> in_group(loops.size(), false), in_dims(ndim, false);
    in_group[first] = true;
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t dim = 0; dim < ndim; ++dim) {
        bool meets = in_dims[dim];
        for (size_t n = 0; n < loops.size() && !meets; ++n)
          meets = in_group[n] && used[dim].contains(ranges[n].first.get());
        if (!meets || in_dims[dim]) continue;
        grown = in_dims[dim] = true;
        for (size_t n = 0; n < loops.size(); ++n)
          in_group[n] = in_group[n] || used[dim].contains(ranges[n].first.get());
      }
    }
    arith::IterRanges group;
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < loops.size(); ++n) {
      if (in_group[n]) group.push_back(ranges[n]), is_done[n] = true;
    }
    for (size_t dim = 0; dim < ndim; ++dim) {
      if (!in_dims[dim]) continue;
      if (is_one(tile.width[dim])) {
        indices.push_back(tile.min[dim]);
        continue;
      }
      Var place = make_var("place", tile.min[dim]->dtype);
      group.emplace_back(place, make_range(imm(0, place->dtype), cast(place->dtype, tile.width[dim])));
      analyzer.bind(place, group.back().second);
      indices.push_back(tile.min[dim] + place);
    }
    if (indices.empty() ||
        !arith::detect_iter_map(indices, group, conditions_of_group(predicate, ranges, in_group),
                                arith::IterMapLevel::kInjective, analyzer))
      continue;
    for (size_t n = 0; n < loops.size(); ++n) {
      if (in_group[n]) pinned.push_back(loops[n]);
    }
  }
  return pinned;
}

// The union of two moving boxes in the dimensions where they differ by a constant.
Tile united(const arith::IntervalRegion& a, const arith::IntervalRegion& b, arith::Analyzer& analyzer) {
  Tile tile;
  for (size_t n = 0; n < a.size() && n < b.size(); ++n) {
    if (!a[n].is_bounded() || !b[n].is_bounded()) continue;
    const arith::ConstBounds shift = analyzer.const_bounds(analyzer.simplify(b[n].min - a[n].min));
    const arith::ConstBounds width_a = analyzer.const_bounds(analyzer.simplify(a[n].max - a[n].min));
    const arith::ConstBounds width_b = analyzer.const_bounds(analyzer.simplify(b[n].max - b[n].min));
    if (!shift.is_const() || !width_a.is_bounded() || !width_b.is_bounded()) continue;
    const int64_t low = std::min<int64_t>(0, shift.min);
    const int64_t high = std::max(width_a.max, shift.min + width_b.max);
    tile.min.push_back(analyzer.simplify(a[n].min + low));
    tile.width.push_back(imm(high - low + 1));
  }
  return tile;
}

}  // namespace

std::vector<NodeId> determined_loops(const State& state, const arith::IntervalRegion& a,
                                     const arith::IntervalRegion& b, const std::vector<NodeId>& loops,
                                     arith::Analyzer& analyzer) {
  const arith::Domains all = arith::domains_of(ranges_of(state, loops));
  auto anywhere = [&](const arith::IntervalRegion& box) {
    arith::IntervalRegion wide;
    for (const arith::Interval& side : box)
      wide.push_back({side.min ? arith::eval_interval(side.min, all, analyzer).min : PrimExpr(),
                      side.max ? arith::eval_interval(side.max, all, analyzer).max : PrimExpr()});
    return wide;
  };
  if (arith::are_disjoint(anywhere(a), anywhere(b), analyzer)) return loops;
  return pinned_loops(united(a, b, analyzer), loops, ranges_of(state, loops), bool_imm(true), analyzer);
}

std::vector<NodeId> determined_loops(const State& state, const Access& a, const Access& b,
                                     const std::vector<NodeId>& loops) {
  if (a.buffer != b.buffer) return {};  // two views of the same memory
  arith::Analyzer analyzer;
  bind_loops_above(state, a.block, analyzer);
  bind_loops_above(state, b.block, analyzer);
  const arith::IntervalRegion box_a = relaxed(state, a, loops.back(), analyzer);
  const arith::IntervalRegion box_b = relaxed(state, b, loops.back(), analyzer);
  std::vector<NodeId> found = determined_loops(state, box_a, box_b, loops, analyzer);
  const auto add = [&](const std::vector<NodeId>& pinned) {
    for (NodeId loop : pinned) {
      const bool is_new = std::find(found.begin(), found.end(), loop) == found.end();
      if (is_new && std::find(loops.begin(), loops.end(), loop) != loops.end()) found.push_back(loop);
    }
  };
  const BoxOfNumber one = number_of_box(box_a, a.buffer->shape, analyzer),
                    two = number_of_box(box_b, b.buffer->shape, analyzer);
  if (one.number && two.number && analyzer.can_prove_equal(one.number, two.number)) {
    Tile tile = united(one.others, two.others, analyzer);
    tile.min.push_back(one.number);
    tile.width.push_back(imm(1));
    add(pinned_loops(tile, loops, ranges_of(state, loops), bool_imm(true), analyzer));
  }
  if (found.size() == loops.size() || a.block != b.block) return found;
  // The same block: its inner loops need not be relaxed, which keeps strided accesses apart.
  std::vector<NodeId> inner = loops;
  for (NodeId loop : loops_between(state, loops.back(), a.block)) inner.push_back(loop);
  const PrimExpr& predicate = state.node(a.block).realize()->predicate;
  const auto add_pinned_by = [&](const Tile& place) {
    add(pinned_loops(place, inner, ranges_of(state, inner), predicate, analyzer));
  };
  add_pinned_by(united(arith::to_intervals(a.region), arith::to_intervals(b.region), analyzer));
  // i // 49, (i * 16 + j) % 784: what the simplifier has made of one fused loop is one again in memory
  const PrimExpr flat = flat_index(points_of(a), a.buffer->shape, analyzer),
                 other = flat_index(points_of(b), b.buffer->shape, analyzer);
  if (found.size() < loops.size() && flat && other && analyzer.can_prove_equal(flat, other))
    add_pinned_by({{flat}, {imm(1)}});
  if (found.size() == loops.size()) return found;
  const auto is_equal = [&](const PrimExpr& one, const PrimExpr& two) {
    return analyzer.can_prove_equal(one, two);
  };
  for (const auto& without : {indices_without_digits, indices_without_scattered_digits}) {
    if (found.size() == loops.size()) break;
    const std::vector<PrimExpr> indices = without(points_of(a), a.buffer->shape, analyzer),
                                others = without(points_of(b), b.buffer->shape, analyzer);
    if (!indices.empty() && std::ranges::equal(indices, others, is_equal))
      add_pinned_by({indices, std::vector<PrimExpr>(indices.size(), imm(1))});
  }
  return found;
}

std::optional<NodeId> loop_that_rewrites(const State& state, const Access& read, const Access& write,
                                         NodeId outer, NodeId last) {
  if (!state.proves_steps) return std::nullopt;
  std::vector<NodeId> chain = loops_between(state, outer, last);
  chain.push_back(last);
  arith::Analyzer analyzer;
  bind_loops_above(state, read.block, analyzer);
  bind_loops_above(state, write.block, analyzer);
  std::vector<NodeId> determined;
  if (read.buffer == write.buffer)  // otherwise two views of the same memory
    determined = determined_loops(state, relaxed(state, write, last, analyzer),
                                  relaxed(state, read, last, analyzer), chain, analyzer);
  // min(i * 4 + 3, n - 1) is at no constant distance: what would be read without the guard is more, and known
  if (read.buffer == write.buffer && determined.size() < chain.size()) {
    const std::vector<NodeId> others =
        determined_loops(state, relaxed_unguarded(state, write, last, analyzer),
                         relaxed_unguarded(state, read, last, analyzer), chain, analyzer);
    determined.insert(determined.end(), others.begin(), others.end());
  }
  for (NodeId loop : chain) {
    if (std::find(determined.begin(), determined.end(), loop) == determined.end() &&
        !is_one(state.node(loop).loop()->extent))
      return loop;
  }
  return std::nullopt;
}

namespace {

// True if `id` stores the same in an element each time it runs while `loop` does: its axes choose the
// element, and nothing that it reads is written meanwhile.
bool stores_the_same(const State& state, NodeId id, NodeId loop) {
  const BlockNode* block = state.node(id).block();
  if (block->init || !state.node(id).children.empty() || !why_not_one_to_one(state, id).empty()) return false;
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial) return false;
  }
  bool is_same = true;
  walk(block->body, [&](const CallNode* call) { is_same &= is_pure(call->op); });
  for (NodeId outer = state.node(id).parent; outer != kNoNode; outer = state.node(outer).parent) {
    const ForNode* around = state.node(outer).loop();
    if (!around) continue;
    walk(block->body, [&](const VarNode* var) { is_same &= var != around->loop_var.get(); });
  }
  for (const Access& read : accesses_of(state, id)) {
    if (read.is_write) continue;
    for (const Access& access : accesses_below(state, loop))
      is_same &= !access.is_write || !may_alias(access.buffer, read.buffer);
  }
  return is_same;
}

}  // namespace

void require_not_rewritten(const State& state, const Access& read, NodeId writer, NodeId outer, NodeId last) {
  if (!state.proves_steps) return;
  const std::vector<NodeId> around = loops_between(state, outer, last);
  // the values before the first store matter unless there are none or nothing reads them
  const bool reads_stores =
      allocation_of(state, read.buffer, read.block) != kNoNode || is_covered_by_earlier(state, read, last);
  if (reads_stores && stores_the_same(state, writer, around.empty() ? last : around[0])) return;
  for (const Access& write : accesses_of(state, writer)) {
    if (!write.is_write || !may_alias(write.buffer, read.buffer)) continue;
    const std::optional<NodeId> loop = loop_that_rewrites(state, read, write, outer, last);
    if (!loop) continue;
    UserError error = refuse(
        state, *loop,
        "block {} reads elements of {} that block {} writes again in a later iteration of loop {}",
        state.node(read.block).name, read.buffer->name, state.node(writer).name, state.node(*loop).name);
    explain_read(error, state, read, write, *loop, true);
    throw error;
  }
}

// ---------------------------------------------------------------- conflicts

namespace {

// Calls `visit` for each pair of accesses to the same memory of which one writes; a write is also paired with
// itself.
template <class Visit>
void for_each_pair(const std::vector<Access>& accesses, Visit&& visit) {
  for (size_t a = 0; a < accesses.size(); ++a) {
    for (size_t b = a; b < accesses.size(); ++b) {
      if ((accesses[a].is_write || accesses[b].is_write) && may_alias(accesses[a].buffer, accesses[b].buffer))
        if (!visit(accesses[a], accesses[b])) return;
    }
  }
}

// True if a block that continues its own sums starts new ones in each iteration of `loop`.
bool starts_inside(const State& state, NodeId block, NodeId loop) {
  const BlockRealizeNode* realize = state.node(block).realize();
  for (NodeId id = loop; id != kNoNode; id = state.node(id).parent) {
    const ForNode* outer = state.node(id).loop();
    for (size_t n = 0; outer && n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type != IterType::kSpatial &&
          uses(realize->iter_values[n], outer->loop_var.get()) && !is_one(outer->extent))
        return false;
    }
  }
  return true;
}

// True if a write may continue an earlier one, as those of a block with blocks inside may.
bool may_go_on(const State& state, const Access& access) {
  return access.is_update || !state.node(access.block).children.empty();
}

enum class Privacy {
  kShared,   // used outside of the loop
  kCarried,  // used inside only, but an iteration reads what it has not written itself
  kPrivate,  // what an iteration reads it has written before
};

// True if each iteration of `loop` could have a buffer of its own; `found` is an access that shows kCarried.
Privacy privacy_of(const State& state, const Buffer& buffer, NodeId loop, std::optional<Access>* found) {
  const NodeId owner = allocation_of(state, buffer, loop);
  if (owner == kNoNode) return Privacy::kShared;
  found->reset();
  for (NodeId block : users_beside(state, owner, buffer, loop)) {
    for (const Access& access : accesses_of(state, block)) {
      if (!may_alias(access.buffer, buffer)) continue;
      if (!state.is_inside(access.block, loop)) return Privacy::kShared;
      const bool begins_here = access.is_write
                                   ? !may_go_on(state, access) || starts_inside(state, access.block, loop)
                                   : is_covered_by_earlier(state, access, loop);
      if (!begins_here) *found = access;
    }
  }
  return *found ? Privacy::kCarried : Privacy::kPrivate;
}

bool contains(const std::vector<NodeId>& nodes, NodeId id) {
  return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

bool has_one_iteration(const State& state, NodeId loop) { return is_one(state.node(loop).loop()->extent); }

// True if the predicates of all blocks inside keep all iterations but the first from doing anything.
bool runs_first_iteration_alone(const State& state, NodeId id) {
  const ForNode* loop = state.node(id).loop();
  const Var later = make_var("later", loop->loop_var->dtype);
  return std::ranges::all_of(state.blocks_below(id), [&](NodeId block) {
    arith::Analyzer analyzer;
    bind_loops_above(state, block, analyzer);
    analyzer.bind(later, make_range(loop->min + 1, loop->extent - 1));
    return std::ranges::any_of(
        arith::conjuncts(state.node(block).realize()->predicate), [&](const PrimExpr& each) {
          return analyzer.can_prove(logical_not(substitute(each, {{loop->loop_var.get(), later}})));
        });
  });
}

std::string region_text(const State& state, const Access& access) {
  const BlockNode* block = state.node(access.block).block();
  for (const BufferRegion& region : access.is_write ? block->writes : block->reads) {
    if (region->buffer == access.buffer) return text(region);
  }
  return access.buffer->name;
}

// True if the first term of each element initialises it in any order of `loops`: each loop chooses either
// the element or the term, and only one iteration of the latter has the least axis values.  Counterexample:
// with i * 4 + k as one loop f, split into f0 and f1, the order f1, f0 begins in the middle of some sum.
bool starts_with_init(const State& state, NodeId block, std::vector<NodeId> loops) {
  const BlockRealizeNode* realize = state.node(block).realize();
  if (!realize->block->init) return true;
  for (NodeId loop : loops_between(state, loops.back(), block)) loops.push_back(loop);
  std::unordered_map<const VarNode*, bool> of_element, of_term;
  std::vector<PrimExpr> terms;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const bool is_reduce = realize->block->iter_vars[n]->iter_type == IterType::kReduce;
    used_vars(realize->iter_values[n], is_reduce ? &of_term : &of_element);
    if (is_reduce) terms.push_back(realize->iter_values[n]);
  }
  Substitution first;
  arith::IterRanges ranges;
  for (NodeId id : loops) {
    const ForNode* loop = state.node(id).loop();
    const VarNode* var = loop->loop_var.get();
    first[var] = loop->min;
    if (of_element.contains(var) == of_term.contains(var) && !is_one(loop->extent)) return false;
    if (of_term.contains(var)) ranges.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
  }
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  for (const PrimExpr& term : terms) {
    if (!analyzer.can_prove(term >= substitute(term, first))) return false;
  }
  const auto are_apart = [&](const std::vector<PrimExpr>& numbers) {
    return bool(arith::detect_iter_map(numbers, ranges, realize->predicate, arith::IterMapLevel::kInjective,
                                       analyzer));
  };
  if (are_apart(terms)) return true;
  // f // 9, f % 9: several axes of one fused loop
  PrimExpr number;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const IterVar& axis = realize->block->iter_vars[n];
    if (axis->iter_type != IterType::kReduce) continue;
    number = number ? number * cast(number->dtype, axis->dom->extent) + realize->iter_values[n]
                    : realize->iter_values[n];
  }
  return number && are_apart({analyzer.simplify(number)});
}

bool adds_in_any_groups(const State& state, NodeId block, NodeId loop) {
  if (is_commutative_update(state.node(block).block())) return true;
  return analysis::update_of(state.node(block).block()) && is_outermost_of_sum(state, block, loop);
}

// `loop` and those around it from the outermost on that has terms of the sum of `block`: with loop f // 9, f % 9 of a
// fused loop f in two parts, the least term is that of the first iterations of both.
std::vector<NodeId> loops_of_sum(const State& state, NodeId block, NodeId loop) {
  const BlockRealizeNode* realize = state.node(block).realize();
  std::vector<NodeId> found;
  for (NodeId outer : state.loops_above(loop)) {
    bool is_of_term = false;
    for (size_t n = 0; n < realize->iter_values.size(); ++n)
      is_of_term |= realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
                    uses(realize->iter_values[n], state.node(outer).loop()->loop_var.get());
    if (is_of_term || !found.empty()) found.push_back(outer);
  }
  found.push_back(loop);
  return found;
}

// True if `loop` has the terms of one sum of the block of `access`, whose groups may be added together, and nothing
// else tells its iterations apart: threads may add them together.
bool shares_sum(const State& state, const Access& access, NodeId loop) {
  const BlockRealizeNode* realize = state.node(access.block).realize();
  const VarNode* var = state.node(loop).loop()->loop_var.get();
  bool is_of_term = false;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (!uses(realize->iter_values[n], var)) continue;
    if (realize->block->iter_vars[n]->iter_type != IterType::kReduce) return false;
    is_of_term = true;
  }
  return is_of_term && state.node(access.block).children.empty() &&
         adds_in_any_groups(state, access.block, loop) &&
         (starts_with_init(state, access.block, {loop}) ||
          starts_with_init(state, access.block, loops_of_sum(state, access.block, loop)));
}

bool is_same_region(const Access& a, const Access& b) {
  return a.buffer == b.buffer &&
         std::equal(a.region.begin(), a.region.end(), b.region.begin(), b.region.end(),
                    [](const Range& x, const Range& y) { return ir::structural_equal(x, y); });
}

}  // namespace

bool is_outermost_of_sum(const State& state, NodeId block, NodeId loop) {
  const BlockRealizeNode* realize = state.node(block).realize();
  for (NodeId outer : state.loops_above(loop)) {
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
          uses(realize->iter_values[n], state.node(outer).loop()->loop_var.get()))
        return false;
    }
  }
  return true;
}

std::string Conflict::str(const State& state) const {
  const std::string& a = state.node(first.block).name;
  const std::string& b = state.node(second.block).name;
  const std::string& var = state.node(loop).name;
  if (first.block == second.block && first.is_write && second.is_write)
    return fmt::format("block {} writes {} in several iterations of loop {}", a, region_text(state, first),
                       var);
  if (first.block == second.block && !first.is_write && !second.is_write)
    return fmt::format("block {} reads {}, which another iteration of loop {} has written", a,
                       region_text(state, first), var);
  const Access& write = first.is_write ? first : second;
  const Access& other = first.is_write ? second : first;
  return fmt::format("block {} writes {}, which block {} {} in another iteration of loop {}",
                     write.is_write ? state.node(write.block).name : a, region_text(state, write),
                     state.node(other.block).name.empty() ? b : state.node(other.block).name,
                     other.is_write ? "writes" : "reads", var);
}

void Conflict::explain(Error& error) const {
  if (!witness.empty()) error.add_note({}, witness);
}

namespace {

// The text names the read first, then the write.
std::string witness_of(const State& state, const Access& a, const Access& b, const std::vector<NodeId>& shown,
                       const std::function<bool(const Iteration&, const Iteration&)>& counts) {
  if (a.is_write && !b.is_write)
    return find_witness(state, b, a, shown,
                        [&](const Iteration& x, const Iteration& y) { return counts(y, x); });
  return find_witness(state, a, b, shown, counts);
}

// Two iterations of `loop` in one iteration of the loops around it.
std::string parallel_witness(const State& state, const Access& a, const Access& b, NodeId loop) {
  std::vector<NodeId> outer = state.loops_above(loop);
  return witness_of(state, a, b, {loop}, [&](const Iteration& x, const Iteration& y) {
    for (NodeId id : outer) {
      if (x.at(id) != y.at(id)) return false;
    }
    return x.at(loop) > y.at(loop);
  });
}

// Two iterations that change their order.
std::string order_witness(const State& state, const Access& a, const Access& b,
                          const std::vector<NodeId>& before, const std::vector<NodeId>& after) {
  auto is_first = [](const Iteration& x, const Iteration& y, const std::vector<NodeId>& order) {
    for (NodeId id : order) {
      if (x.at(id) != y.at(id)) return x.at(id) < y.at(id);
    }
    return false;
  };
  const std::vector<NodeId> outer = state.loops_above(before[0]);
  return witness_of(state, a, b, before, [&](const Iteration& x, const Iteration& y) {
    for (NodeId id : outer) {
      if (x.at(id) != y.at(id)) return false;
    }
    return is_first(x, y, before) != is_first(x, y, after) && is_first(y, x, before) != is_first(y, x, after);
  });
}

}  // namespace

std::optional<Conflict> private_conflict(const State& state, NodeId loop) {
  if (!state.proves_steps) return std::nullopt;
  std::vector<const VarNode*> seen;
  for (const Access& access : accesses_below(state, loop)) {
    const VarNode* data = access.buffer->data.get();
    if (std::find(seen.begin(), seen.end(), data) != seen.end()) continue;
    seen.push_back(data);
    const NodeId owner = allocation_of(state, access.buffer, loop);
    NodeId outer = state.node(loop).parent;
    while (outer != kNoNode && outer != owner &&
           !(state.node(outer).is_loop() && !has_one_iteration(state, outer)))
      outer = state.node(outer).parent;
    if (owner == kNoNode || outer == owner || outer == kNoNode) continue;
    std::optional<Access> carried;
    if (privacy_of(state, access.buffer, loop, &carried) != Privacy::kCarried) continue;
    return Conflict{
        *carried, *carried, outer,
        fmt::format("only loop {} uses {}, so that each of its iterations has one of its own, each time",
                    state.node(loop).name, access.buffer->name)};
  }
  return std::nullopt;
}

std::optional<Conflict> parallel_conflict(const State& state, NodeId loop, std::string_view thread_tag) {
  if (!state.proves_steps) return std::nullopt;
  const bool may_share_sums = thread_tag.starts_with("threadIdx");
  if (std::optional<Conflict> conflict = private_conflict(state, loop)) {
    if (!may_share_sums || !conflict->first.is_write || !shares_sum(state, conflict->first, loop))
      return conflict;
  }
  if (has_one_iteration(state, loop) || runs_first_iteration_alone(state, loop)) return std::nullopt;
  std::optional<Conflict> found;
  std::unordered_map<const VarNode*, bool> privates;
  std::vector<NodeId> chain = state.loops_above(loop);
  chain.push_back(loop);
  for_each_pair(accesses_below(state, loop), [&](const Access& a, const Access& b) {
    // what is allocated in a block inside of the loop belongs to one iteration
    const NodeId owner = allocation_of(state, a.buffer, a.block);
    if (owner != kNoNode && state.is_inside(owner, loop)) return true;
    if (contains(determined_loops(state, a, b, {loop}), loop)) return true;
    // i // 32 and i % 32 tell i apart only together with the loops outside that make up i
    if (chain.size() > 1 && contains(determined_loops(state, a, b, chain), loop)) return true;
    auto [known, is_new] = privates.try_emplace(a.buffer->data.get(), false);
    std::optional<Access> carried;
    if (is_new) known->second = privacy_of(state, a.buffer, loop, &carried) == Privacy::kPrivate;
    if (known->second) return true;
    if (may_share_sums && a.block == b.block && is_same_region(a, b) && shares_sum(state, a, loop))
      return true;
    found = Conflict{a, b, loop, parallel_witness(state, a, b, loop)};
    return false;
  });
  return found;
}

std::optional<Conflict> order_conflict(const State& state, const std::vector<NodeId>& before,
                                       const std::vector<NodeId>& after) {
  if (!state.proves_steps) return std::nullopt;
  std::optional<Conflict> found;
  for_each_pair(accesses_below(state, before.back()), [&](const Access& a, const Access& b) {
    const std::vector<NodeId> determined = determined_loops(state, a, b, before);
    auto is_free = [&](NodeId loop) {
      return !contains(determined, loop) && !has_one_iteration(state, loop);
    };
    std::vector<NodeId> old_order, new_order;
    std::copy_if(before.begin(), before.end(), std::back_inserter(old_order), is_free);
    std::copy_if(after.begin(), after.end(), std::back_inserter(new_order), is_free);
    if (old_order == new_order) return true;
    if (a.block == b.block && is_commutative_update(state.node(a.block).block()) &&
        starts_with_init(state, a.block, before))
      return true;
    size_t first = 0;
    while (old_order[first] == new_order[first]) ++first;
    found = Conflict{a, b, old_order[first], order_witness(state, a, b, before, after)};
    return false;
  });
  return found;
}

}  // namespace tilewright::schedule
