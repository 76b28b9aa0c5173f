#include "tilewright/tune/store_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tilewright/target/costs.h"
#include "tilewright/tune/model_costs.h"

namespace tilewright::tune {
using target::Features;
using tir::ForKind;

namespace {

double rounded_up(double lanes) {
  return static_cast<double>(std::bit_ceil(static_cast<uint64_t>(std::min(lanes, 0x1p32))));
}

// Computes the cost of one store.
class CostMaker {
 public:
  CostMaker(const Nest& nest, const Footprints& footprints, size_t place, const Features& features)
      : nest_(nest),
        footprints_(footprints),
        place_(place),
        store_(nest.stores[place]),
        features_(features),
        chain_(nest.chain_of(store_)) {}

  StoreCost make() {
    find_body();
    for (const Access& access : store_.accesses) cost_.moves.push_back(moves_of(access));
    count_registers();
    count_instructions();
    count_entries();
    count_traffic();
    return std::move(cost_);
  }

 private:
  const NestLoop& loop(size_t n) const { return nest_.loops[static_cast<size_t>(chain_[n])]; }

  // Loops that the schedule, or the code generator, writes out or vectorizes.
  void find_body() {
    Body& body = cost_.body;
    while (body.num_loops < chain_.size()) {
      const NestLoop& inner = loop(body.num_loops);
      const bool is_written_out = inner.kind == ForKind::kUnrolled || inner.kind == ForKind::kVectorized;
      if (!is_written_out && inner.extent > 1) break;
      ++body.num_loops;
    }
    for (size_t n = 0; n < chain_.size(); ++n) {
      if (loop(n).kind == ForKind::kVectorized)
        body.lanes *= loop(n).extent;
      else if (n < body.num_loops)
        body.copies *= loop(n).extent;
    }
    set_lanes(body.lanes);
    body.scheduled_loops = body.num_loops;
    write_out();
    if (!nest_.has_vectors) vectorize();
    for (size_t n = body.num_loops; n < chain_.size(); ++n) {
      if (loop(n).kind != ForKind::kVectorized) body.iterations *= extent(n);
    }
    body.iterations *= store_.share;
    body.trips = body.num_loops < chain_.size() ? extent(body.num_loops) : 1;
    body.vector_use = body.lanes / (registers_ * whole_);
  }

  void set_lanes(double lanes) {
    cost_.body.lanes = lanes;
    whole_ = static_cast<double>(features_.vector_bytes) / store_.element_bytes;
    width_ = std::min(rounded_up(lanes), whole_);
    registers_ = std::max(1.0, rounded_up(lanes) / whole_);
  }

  void write_out() {
    Body& body = cost_.body;
    // a number that all lanes share takes two instructions more to be a vector
    double of_copy = store_.operations.total() + (store_.accesses[0].loads == 0);
    for (size_t n = 1; n < store_.accesses.size(); ++n)
      of_copy += body.lanes > 1 && stride_of(store_.accesses[n]) == 0 ? 3 : 1;
    of_copy *= registers_;
    while (body.num_loops < chain_.size()) {
      const NestLoop& next = loop(body.num_loops);
      if (next.kind == ForKind::kParallel || next.stays) return;
      if (body.copies * of_copy * next.extent > kModelCosts.unrolled_instructions) return;
      body.copies *= next.extent;
      ++body.num_loops;
    }
  }

  // LLVM vectorizes the loop around what is written out, if its accesses are neighbours.
  void vectorize() {
    const size_t place = cost_.body.num_loops;
    if (place >= chain_.size() || loop(place).kind == ForKind::kParallel) return;
    vector_loop_ = chain_[place];
    const bool is_vector = stride_of(store_.accesses[0]) == 1 &&
                           std::all_of(store_.accesses.begin(), store_.accesses.end(),
                                       [&](const Access& access) { return stride_of(access) <= 1; });
    if (is_vector)
      set_lanes(std::min(whole_, loop(place).extent));
    else
      vector_loop_ = -1;
  }

  // How often a loop around the body runs.
  double extent(size_t n) const {
    return loop(n).extent / (chain_[n] == vector_loop_ ? cost_.body.lanes : 1);
  }
  bool is_vectorized(int32_t place) const {
    return place == vector_loop_ || nest_.loops[static_cast<size_t>(place)].kind == ForKind::kVectorized;
  }

  // The rate of instructions on vectors as wide as the body's, where whole ones may take two units.
  double rate(double of_whole, double narrow) const {
    return std::min(of_whole * whole_ / width_, std::max(of_whole, narrow));
  }

  double stride_of(const Access& access) const {
    const NestBuffer& buffer = nest_.buffers[static_cast<size_t>(access.buffer)];
    double stride = 0;
    for (const int32_t place : chain_) {
      if (!is_vectorized(place)) continue;
      for (size_t dim = 0; dim < std::min(access.indices.size(), buffer.strides.size()); ++dim) {
        for (const Term& term : access.indices[dim].terms) {
          if (term.loop == place)
            stride =
                std::max(stride, access.indices[dim].is_known ? std::abs(term.coef) * buffer.strides[dim]
                                                              : buffer.strides[dim] * buffer.extents[dim]);
        }
      }
    }
    return stride;
  }

  // How many different elements of an access, or vectors, the innermost loops use.
  double copies_of(const Access& access, size_t num_loops) const {
    double copies = 1;
    for (size_t n = 0; n < num_loops; ++n) {
      if (loop(n).kind != ForKind::kVectorized && access.depends_on(chain_[n])) copies *= loop(n).extent;
    }
    return copies;
  }
  double vectors_of(const Access& access, double stride, size_t num_loops) const {
    const double refs = std::max({access.loads, access.stores, 1});
    return copies_of(access, num_loops) * refs * (stride == 0 ? 1 : registers_);
  }

  Moves moves_of(const Access& access) const {
    const Body& body = cost_.body;
    Moves moves;
    moves.stride = stride_of(access);
    const double refs = std::max({access.loads, access.stores, 1});
    const double copies = copies_of(access, body.num_loops);
    const bool is_one = moves.stride == 0;
    moves.vectors = vectors_of(access, moves.stride, body.num_loops);
    const auto lanes = static_cast<uint64_t>(std::min(body.lanes, 0x1p32));
    const double pieces = std::floor(body.lanes / whole_) +
                          std::popcount(lanes % std::max<uint64_t>(static_cast<uint64_t>(whole_), 1));
    const bool is_gathered = moves.stride > 1;
    const double moved = copies * refs * (is_one ? 1 : is_gathered ? body.lanes : pieces);
    moves.instructions = (is_gathered ? 2 : 1) * moved;
    for (size_t n = body.num_loops; n < chain_.size() && !access.depends_on(chain_[n]); ++n)
      moves.kept *= extent(n);
    const auto cycles = [&](double of_whole, double narrow) {
      return moved * (is_gathered ? kModelCosts.gather_cycles : 1 / rate(of_whole, narrow));
    };
    if (access.loads > 0)
      moves.load_cycles = cycles(features_.rates.loads_per_cycle, kModelCosts.narrow_rate);
    if (access.stores > 0) moves.store_cycles = cycles(features_.rates.stores_per_cycle, 1);
    return moves;
  }

  void count_registers() {
    Body& body = cost_.body;
    const Moves& sums = cost_.moves[0];
    if (sums.kept > 1) body.accumulators = sums.vectors;
    double least = INFINITY;
    for (size_t n = 1; n < cost_.moves.size(); ++n)
      least = std::min(least, vectors_of(store_.accesses[n], cost_.moves[n].stride, body.scheduled_loops));
    body.operands = cost_.moves.size() > 1 ? least + 1 : 0;
    // LLVM keeps a sum in a register for the whole loop or not at all, and finds none for most of too many:
    // 1024^3 on a Zen 4 takes 21 ms by 16 sums, 44 ms by 32, which is two stores a sum and step
    if (body.accumulators + body.operands > static_cast<double>(features_.num_vector_registers))
      body.spills = body.accumulators;
  }

  void count_instructions() {
    const Body& body = cost_.body;
    const Operations& all = store_.operations;
    const target::Rates& rates = features_.rates;
    const double fma_rate = rate(rates.fma_per_cycle, kModelCosts.narrow_rate),
                 copies = body.copies * registers_;
    const double simple = copies * (all.float_add + all.float_mul + all.float_other + all.float_fma +
                                    all.int_add + all.int_mul + all.casts + all.choices + all.dots);
    const double slow = copies * ((all.float_div + all.int_div) * kModelCosts.divide_cycles +
                                  all.math * kModelCosts.math_instructions / fma_rate);
    cost_.arithmetic = body.iterations * (simple / fma_rate + slow);
    cost_.instructions = simple + slow + 2 * body.spills + kModelCosts.loop_instructions;
    cost_.loads = body.iterations * body.spills / rate(rates.loads_per_cycle, kModelCosts.narrow_rate);
    cost_.stores = body.iterations * body.spills / rate(rates.stores_per_cycle, 1);
    for (size_t n = 0; n < cost_.moves.size(); ++n) {
      const Moves& moves = cost_.moves[n];
      cost_.loads += body.iterations / moves.kept * moves.load_cycles;
      cost_.stores += body.iterations / moves.kept * moves.store_cycles;
      // loads may be part of the instructions that use them
      cost_.instructions += moves.instructions / moves.kept / (n == 0 ? 1 : 2);
    }
    const bool is_decoded_again = cost_.instructions > kModelCosts.kept_instructions;
    cost_.issue = body.iterations * cost_.instructions *
                  (is_decoded_again ? kModelCosts.decode_cycles : 1 / static_cast<double>(rates.issue_width));
    cost_.latency = body.iterations * waiting();
  }

  // The cycles of an iteration in which each sum waits for the one before.
  double waiting() const {
    const Body& body = cost_.body;
    const Moves& sums = cost_.moves[0];
    const double updates = body.copies * registers_ / std::max(sums.vectors, 1.0);  // of each sum
    if (store_.accesses[0].loads == 0 || updates * sums.kept <= 1) return 0;
    const double steps =
        store_.operations.float_other + store_.operations.choices > 0 ? kModelCosts.choice_steps : 1;
    const double latency = steps * static_cast<double>(features_.rates.fma_latency) +
                           (body.spills > 0 ? kModelCosts.forward_cycles : 0);
    // sums of the next iterations of outer loops begin before these have ended
    const double waits = sums.kept > 1 ? body.trips : 1;
    const double in_flight = kModelCosts.window_instructions / (waits * cost_.instructions);
    return updates * latency / std::max(in_flight, 1.0);
  }

  void count_entries() {
    double times = store_.share;
    for (size_t n = chain_.size(); n-- > cost_.body.num_loops;) {
      if (extent(n) > 1) cost_.entries += times * kModelCosts.entry_cycles;
      times *= extent(n);
    }
  }

  void count_traffic() {
    const double share = kModelCosts.cache_share;
    const auto line = static_cast<double>(features_.line_bytes);
    for (size_t a = 0; a < store_.accesses.size(); ++a) {
      // a line that is written comes, and goes
      const double ways = store_.accesses[a].stores > 0 ? 2 : 1;
      const auto from = [&](double num_bytes, bool is_l1) {
        return footprints_.traffic(place_, a, share * num_bytes, is_l1);
      };
      const auto l1 = from(static_cast<double>(features_.l1_bytes), true),
                 l2 = from(static_cast<double>(features_.l2_bytes), false),
                 l3 = from(kModelCosts.l3_bytes, false);
      cost_.l2 += ways * l1.lines * line / static_cast<double>(features_.l2_bytes_per_cycle);
      cost_.l3 += ways * (l2.lines * line / kModelCosts.l3_bytes_per_cycle) +
                  l2.pieces * target::kTileCosts.piece_cycles;
      cost_.memory += ways * (l3.lines * line / static_cast<double>(features_.memory_bytes_per_cycle)) +
                      l3.pieces * target::kTileCosts.piece_cycles;
    }
  }

  const Nest& nest_;
  const Footprints& footprints_;
  const size_t place_;
  const NestStore& store_;
  const Features& features_;
  const std::vector<int32_t> chain_;
  StoreCost cost_;
  int32_t vector_loop_ = -1;  // that the code generator vectorizes
  double whole_ = 1, width_ = 1,
         registers_ = 1;  // lanes of a register, of those in use, registers of a value
};

}  // namespace

double StoreCost::compute() const { return std::max({arithmetic, loads, stores, issue, latency}); }

double StoreCost::cycles() const {
  const double hidden = target::kTileCosts.near_share * l2 + target::kTileCosts.far_share * (l3 + memory);
  return std::max({compute() + hidden, l2, l3, memory}) + entries;
}

StoreCost cost_of(const Nest& nest, const Footprints& footprints, size_t store, const Features& features) {
  return CostMaker(nest, footprints, store, features).make();
}

double ProgramCost::total() const { return std::accumulate(cycles.begin(), cycles.end(), threads_cycles); }

double ProgramCost::seconds() const { return std::max(total(), 1.0) / kModelCosts.hertz; }

ProgramCost cost_of(const Nest& nest, const Footprints& footprints, const Features& features) {
  ProgramCost cost;
  const auto cores = static_cast<double>(std::max<int64_t>(features.num_cores, 1));
  for (size_t n = 0; n < nest.stores.size(); ++n) {
    cost.stores.push_back(cost_of(nest, footprints, n, features));
    double cycles = cost.stores.back().cycles();
    for (const int32_t place : nest.chain_of(nest.stores[n])) {
      const NestLoop& loop = nest.loops[static_cast<size_t>(place)];
      if (loop.kind == ForKind::kParallel) cycles *= std::ceil(loop.extent / cores) / loop.extent;
    }
    cost.cycles.push_back(cycles);
  }
  for (const NestLoop& loop : nest.loops) {
    if (loop.kind != ForKind::kParallel) continue;
    double times = 1;
    for (int32_t outer = loop.parent; outer >= 0; outer = nest.loops[static_cast<size_t>(outer)].parent)
      times *= nest.loops[static_cast<size_t>(outer)].extent;
    // work of parallel_cycles is as fast by one core as by all
    cost.threads_cycles += times * static_cast<double>(features.parallel_cycles) * (1 - 1 / cores);
    cost.parallel_extent = std::max(cost.parallel_extent, loop.extent);
  }
  return cost;
}

}  // namespace tilewright::tune
