// Random primitives with random arguments on small programs of many shapes: each is refused or changes the
// program.
#pragma once
#include <random>

#include "fuzz_programs.h"
#include "schedule_testing.h"
#include "tilewright/schedule/core/access.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

class RandomSchedule {
 public:
  RandomSchedule(std::string_view program, uint64_t seed)
      : before_(module_of(program)),
        random_(seed),
        // a refusal in detail tries other calls, too: some of the time
        sch_(before_, {.seed = seed,
                       .verify_steps = true,
                       .errors = seed % 8 == 0 ? ErrorDetail::kDetail : ErrorDetail::kFast}) {}

  const IRModule& before() const { return before_; }
  const Schedule& schedule() const { return sch_; }
  uint64_t number() { return random_(); }

  /// Tries one step; false if it was refused.
  bool step() {
    refresh();
    if (loops_.empty()) return false;
    try {
      return apply_one(), true;
    } catch (const UserError&) {
    } catch (const Unsupported&) {
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.render() << "\nsteps before:\n"
                    << sch_.trace().simplified().str() << show(sch_.module());
    }
    return false;
  }

 private:
  // Handles on everything there is now.
  void refresh() {
    const PrimFunc& program = sch_.state().funcs()[0].func;
    if (program == seen_) return;
    seen_ = program;
    loops_.clear();
    blocks_.clear();
    const State::Func& func = sch_.state().funcs()[0];
    collect(func.root);
  }
  void collect(NodeId id) {
    for (NodeId child : sch_.state().node(id).children) {
      if (!sch_.state().node(child).is_loop()) {
        const BlockRef block = block_ref(child);
        blocks_.push_back(block);
        for (LoopRef loop : sch_.call("get_loops", block).loops()) loops_.push_back(loop);
      }
      collect(child);
    }
  }
  BlockRef block_ref(NodeId id) {
    NodeId scope = sch_.state().scope_of(id);
    const BlockRef owner =
        sch_.state().scope_of(scope) == kNoNode ? sch_.call("get_block", "root").block() : block_ref(scope);
    for (BlockRef block : sch_.call("get_child_blocks", owner).blocks()) {
      if (sch_.state()[block] == id) return block;
    }
    throw InternalError("a block is not among the children of its scope");
  }

  template <class T>
  T pick(const std::vector<T>& items) {
    return items[random_() % items.size()];
  }
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  Result loops_of_nest(size_t count, std::string_view name) {
    std::vector<LoopRef> nest = sch_.call("get_loops", pick(blocks_)).loops();
    if (name == "reorder") std::shuffle(nest.begin(), nest.end(), random_);
    const size_t first = nest.empty() ? 0 : random_() % nest.size();
    std::vector<LoopRef> chosen(nest.begin() + static_cast<long>(first),
                                nest.begin() + static_cast<long>(std::min(nest.size(), first + count)));
    return sch_.call(name, chosen);
  }

  // The axes of a block in another order, or its first two as one.
  IndexMap map_of_axes(BlockRef block, bool may_fuse) {
    std::vector<Var> vars;
    std::vector<PrimExpr> outputs;
    const Block node = sch_.get(block);
    for (const IterVar& axis : node->iter_vars)
      vars.push_back(make_var(axis->var->name_hint, axis->var->dtype));
    outputs.assign(vars.begin(), vars.end());
    if (may_fuse && outputs.size() > 1 && number(0, 1) == 1) {
      outputs[0] = outputs[0] * node->iter_vars[1]->dom->extent + outputs[1];
      outputs.erase(outputs.begin() + 1);
    } else {
      std::shuffle(outputs.begin(), outputs.end(), random_);
    }
    return IndexMapNode::make(vars, outputs);
  }
  // Another layout of a buffer that the program allocates: a parameter's would change what callers pass.
  void change_layout(BlockRef block) {
    const NodeId id = sch_.state()[block];
    const auto& writes = sch_.get(block)->writes;
    if (writes.empty() || allocation_of(sch_.state(), writes[0]->buffer, id) == kNoNode)
      throw UserError("a parameter");
    if (writes[0]->buffer->shape.empty()) throw UserError("one element");
    std::vector<Var> vars;
    std::vector<PrimExpr> outputs;
    for (size_t n = 0; n < writes[0]->buffer->shape.size(); ++n) vars.push_back(make_var("i"));
    outputs.assign(vars.rbegin(), vars.rend());
    const int64_t factor = number(1, 4);
    outputs.push_back(floormod(outputs.back(), factor));
    outputs[outputs.size() - 2] = floordiv(outputs[outputs.size() - 2], factor);
    const IndexMap map = IndexMapNode::make(vars, outputs);
    if (number(0, 1) == 1)
      sch_.call("transform_layout", block, ArgValue{"write", 0}, map);
    else
      sch_.call("transform_layout", block, ArgValue{"write", 0}, map, 2);
  }

  void apply_one() {
    switch (random_() % 46) {
      case 21: sch_.call("loop_partition", pick(loops_), Factors{number(1, 3), None{}}); break;
      case 22: sch_.call("merge", pick(loops_), pick(loops_)); break;
      case 23: {
        const BlockRef block = pick(blocks_);
        std::vector<int64_t> order(sch_.get(block)->iter_vars.size());
        for (size_t n = 0; n < order.size(); ++n) order[n] = static_cast<int64_t>(n);
        std::shuffle(order.begin(), order.end(), random_);
        sch_.call("reorder_block_iter_var", block, order);
        break;
      }
      case 24: sch_.call("reindex", pick(blocks_), ArgValue{"read", number(0, 2)}); break;
      case 25: sch_.call("reindex", pick(blocks_), ArgValue{"write", 0}); break;
      case 26: {
        const BlockRef block = pick(blocks_);
        sch_.call("reindex_cache_read", block, number(0, 1), "global", map_of_axes(block, true));
        break;
      }
      case 27: {
        const BlockRef block = pick(blocks_);
        sch_.call("reindex_cache_write", block, 0, "global", map_of_axes(block, true));
        break;
      }
      case 28: sch_.call("cache_inplace", pick(blocks_), number(0, 1), "local"); break;
      case 29: sch_.call("cache_index", pick(blocks_), "global", number(0, 1)); break;
      case 30: sch_.call("read_at", pick(loops_), pick(blocks_), number(0, 1), "local"); break;
      case 31: sch_.call("write_at", pick(loops_), pick(blocks_), 0, "local"); break;
      case 32:
      case 33: change_layout(pick(blocks_)); break;
      case 34: {
        const BlockRef block = pick(blocks_);
        sch_.call("transform_block_layout", block, map_of_axes(block, true));
        break;
      }
      case 35:
        sch_.call("set_axis_separator", pick(blocks_), ArgValue{"read", 0}, ArgValue::List{number(0, 1)});
        break;
      case 36: sch_.call("decompose_padding", pick(blocks_), pick(loops_)); break;
      case 37: {
        const BlockRef block = pick(blocks_);
        std::vector<int64_t> padding;
        for (size_t n = 0; n < sch_.get(block)->iter_vars.size(); ++n) padding.push_back(number(1, 4));
        sch_.call("pad_einsum", block, padding);
        break;
      }
      case 38:
      case 39: sch_.call("rolling_buffer", pick(blocks_), 0); break;
      case 40: sch_.call("fuse_reduction_epilogue", pick(blocks_), pick(blocks_)); break;
      case 41: sch_.call("blockize", ArgValue{pick(blocks_), pick(blocks_)}, number(0, 1) == 1); break;
      case 42: sch_.call("storage_align", pick(blocks_), 0, -1, 8, 1); break;
      case 43: sch_.call("annotate", pick(blocks_), "note", "fuzz"); break;
      case 44: sch_.call("unannotate", pick(blocks_), "note"); break;
      case 45: {
        const BlockRef block = pick(blocks_);
        sch_.call("compute_at", block, sch_.call("sample_compute_location", block).loop());
        break;
      }
      case 0:
      case 1: sch_.call("split", pick(loops_), Factors{None{}, number(1, 5)}); break;
      case 2: loops_of_nest(2, "fuse"); break;
      case 3:
      case 4: loops_of_nest(static_cast<size_t>(number(2, 4)), "reorder"); break;
      case 5: sch_.call("parallel", pick(loops_)); break;
      case 6: sch_.call("vectorize", pick(loops_)); break;
      case 7: sch_.call("unroll", pick(loops_)); break;
      case 8:
      case 9: sch_.call("compute_at", pick(blocks_), pick(loops_), number(0, 1) == 1, number(-2, 1)); break;
      case 10:
      case 11:
        sch_.call("reverse_compute_at", pick(blocks_), pick(loops_), number(0, 1) == 1, number(-2, 1));
        break;
      case 12: sch_.call("compute_inline", pick(blocks_)); break;
      case 13: sch_.call("reverse_compute_inline", pick(blocks_)); break;
      case 14: sch_.call("cache_read", pick(blocks_), number(0, 2), "global"); break;
      case 15: sch_.call("cache_write", pick(blocks_), number(0, 1), "global"); break;
      case 16: sch_.call("decompose_reduction", pick(blocks_), pick(loops_)); break;
      case 17: sch_.call("rfactor", pick(loops_), number(-1, 1)); break;
      case 18: sch_.call("blockize", pick(loops_)); break;
      case 20: sch_.call("set_scope", pick(blocks_), number(0, 0), "local"); break;
      default: sch_.call("add_unit_loop", pick(blocks_)); break;
    }
  }

  IRModule before_;
  std::mt19937_64 random_;
  Schedule sch_;
  std::vector<LoopRef> loops_;
  std::vector<BlockRef> blocks_;
  PrimFunc seen_;  // what loops_ and blocks_ are of
};

}  // namespace tilewright::schedule
