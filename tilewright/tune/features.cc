#include "tilewright/tune/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/tune/model_costs.h"

namespace tilewright::tune {
using tir::ForKind;

namespace {

constexpr size_t kAccesses = 4, kIntensities = 10;

// Takes numbers, or their names.
class Row {
 public:
  explicit Row(std::vector<float>* values, std::vector<std::string>* names = nullptr)
      : values_(values), names_(names) {}
  void number(std::string_view name, double value) {
    if (names_) names_->push_back(prefix_ + std::string(name));
    if (values_) values_->push_back(static_cast<float>(value));
  }
  void count(std::string_view name, double value) { number(name, std::log2(1 + std::max(value, 0.0))); }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

 private:
  std::vector<float>* values_;
  std::vector<std::string>* names_;
  std::string prefix_;
};

/// What the features of a store are made of.
struct StoreView {
  const Nest& nest;
  const Footprints& footprints;
  const target::Features& features;
  size_t place;
  const StoreCost& cost;
  std::vector<int32_t> chain;
  double runs = 1;  // of the store, lanes counted

  const NestStore& store() const { return nest.stores[place]; }
  const NestLoop& loop(size_t n) const { return nest.loops[static_cast<size_t>(chain[n])]; }
};

void add_operations(Row& row, const StoreView& view) {
  const Operations& all = view.store().operations;
  const std::pair<std::string_view, double> counts[] = {{"float_add", all.float_add},
                                                        {"float_mul", all.float_mul},
                                                        {"float_fma", all.float_fma},
                                                        {"float_div", all.float_div},
                                                        {"float_other", all.float_other},
                                                        {"math", all.math},
                                                        {"int_add", all.int_add},
                                                        {"int_mul", all.int_mul},
                                                        {"int_div", all.int_div},
                                                        {"dots", all.dots},
                                                        {"casts", all.casts},
                                                        {"choices", all.choices}};
  for (const auto& [name, value] : counts) row.count(name, value * view.runs);
}

void add_loops(Row& row, const StoreView& view) {
  const Body& body = view.cost.body;
  double parallel = 1, unrolled = 1, inner_unrolled = 1;
  for (size_t n = 0; n < view.chain.size(); ++n) {
    if (view.loop(n).kind == ForKind::kParallel) parallel *= view.loop(n).extent;
    if (view.loop(n).kind != ForKind::kUnrolled) continue;
    if (unrolled == 1) inner_unrolled = view.loop(n).extent;
    unrolled *= view.loop(n).extent;
  }
  row.count("lanes", body.lanes);
  row.number("vector_use", body.vector_use);
  row.count("unrolled", unrolled);
  row.count("inner_unrolled", inner_unrolled);
  row.count("parallel", parallel);
  row.count("copies", body.copies);
  row.count("trips", body.trips);
  row.count("iterations", body.iterations);
  row.number("loops", static_cast<double>(view.chain.size()));
  row.number("is_guarded", view.store().is_guarded);
  row.number("share", view.store().share);
  row.count("accumulators", body.accumulators);
  row.count("operands", body.operands);
  row.count("spills", body.spills);
  row.number("accumulators_of_registers",
             body.accumulators / static_cast<double>(view.features.num_vector_registers));
}

// Which loop, or which neighbour in the body, uses the same elements again.
void add_reuse(Row& row, const StoreView& view, const Access& access) {
  double inside = 1, between = 0, uses = 1;
  for (size_t n = 0; n < view.chain.size(); ++n) {
    const double extent = view.loop(n).extent;
    if (!access.depends_on(view.chain[n]) && extent > 1) {
      if (uses == 1) between = view.footprints.bytes_inside(view.chain[n]);
      uses *= extent;
    }
    if (uses == 1) inside *= extent;
  }
  row.count("uses", uses);
  row.count("reuse_iterations", uses > 1 ? inside : 0);
  row.count("reuse_bytes", between);
  row.number("reuse_in_body", access.loads + access.stores - 1);
}

void add_access(Row& row, const StoreView& view, size_t place) {
  static const Access kNone;
  const bool is_there = place < view.store().accesses.size();
  const Access& access = is_there ? view.store().accesses[place] : kNone;
  const Moves moves = is_there ? view.cost.moves[place] : Moves{};
  const Box box = is_there ? view.footprints.of(view.place, place).boxes.back() : Box{0, 0, 0, 0};
  const double bytes = is_there ? view.nest.buffers[static_cast<size_t>(access.buffer)].element_bytes : 0;
  row.number("loads", access.loads);
  row.number("stores", access.stores);
  row.count("touched_bytes", (access.loads + access.stores) * bytes * view.runs);
  row.count("unique_bytes", box.elements * bytes);
  row.count("unique_lines", box.lines);
  row.count("stride", moves.stride);
  row.count("vectors", moves.vectors);
  row.count("kept", moves.kept);
  const auto lines = [&](double num_bytes, bool is_l1) {
    return is_there ? view.footprints.traffic(view.place, place, kModelCosts.cache_share * num_bytes, is_l1)
                    : Footprints::Traffic{};
  };
  row.count("lines_of_l2", lines(static_cast<double>(view.features.l1_bytes), true).lines);
  row.count("lines_of_l3", lines(static_cast<double>(view.features.l2_bytes), false).lines);
  row.count("lines_of_memory", lines(kModelCosts.l3_bytes, false).lines);
  add_reuse(row, view, access);
}

// The accesses that touch most come first, after the store.
void add_accesses(Row& row, const StoreView& view) {
  const size_t count = view.store().accesses.size();
  std::vector<std::pair<double, size_t>> order;
  for (size_t n = 0; n < count; ++n) {
    const double lines = view.footprints.of(view.place, n).boxes.back().lines;
    order.emplace_back(n == 0 ? -INFINITY : -lines, n);
  }
  std::sort(order.begin(), order.end());
  for (size_t n = 0; n < kAccesses; ++n) {
    row.set_prefix(fmt::format("access{}.", n));
    add_access(row, view, n < count ? order[n].second : count);
  }
  row.set_prefix("");
}

// Operations for each byte that the loops touch, from the innermost to all of them, at ten places.
void add_intensities(Row& row, const StoreView& view) {
  std::vector<double> curve;
  double runs = 1;
  for (size_t n = 0; n <= view.chain.size(); ++n) {
    double bytes = 1;
    for (size_t a = 0; a < view.store().accesses.size(); ++a) {
      const double size =
          view.nest.buffers[static_cast<size_t>(view.store().accesses[a].buffer)].element_bytes;
      bytes += size * view.footprints.of(view.place, a).boxes[n].elements;
    }
    curve.push_back(std::log2(1 + view.store().operations.total() * runs / bytes));
    if (n < view.chain.size()) runs *= view.loop(n).extent;
  }
  for (size_t n = 0; n < kIntensities; ++n) {
    const double at = static_cast<double>(n) * static_cast<double>(curve.size() - 1) / (kIntensities - 1);
    const auto low = std::min(static_cast<size_t>(at), curve.size() - 1),
               high = std::min(low + 1, curve.size() - 1);
    const double part = at - static_cast<double>(low);
    row.number(fmt::format("intensity{}", n), (1 - part) * curve[low] + part * curve[high]);
  }
}

void add_cost(Row& row, const StoreView& view) {
  const StoreCost& cost = view.cost;
  const std::pair<std::string_view, double> cycles[] = {{"arithmetic_cycles", cost.arithmetic},
                                                        {"load_cycles", cost.loads},
                                                        {"store_cycles", cost.stores},
                                                        {"issue_cycles", cost.issue},
                                                        {"latency_cycles", cost.latency},
                                                        {"entry_cycles", cost.entries},
                                                        {"l2_cycles", cost.l2},
                                                        {"l3_cycles", cost.l3},
                                                        {"memory_cycles", cost.memory},
                                                        {"cycles", cost.cycles()}};
  for (const auto& [name, value] : cycles) row.count(name, value);
  row.count("instructions", cost.instructions);
}

void add_store(Row& row, const StoreView& view) {
  add_operations(row, view);
  add_loops(row, view);
  add_accesses(row, view);
  add_intensities(row, view);
  add_cost(row, view);
}

void add_program(Row& row, const Nest& nest, const ProgramCost& cost) {
  double allocated = 0, largest = 0, entries = 0, l2 = 0, l3 = 0, compute = 0;
  for (const NestBuffer& buffer : nest.buffers) {
    if (!buffer.is_local) continue;
    const double bytes = std::accumulate(buffer.extents.begin(), buffer.extents.end(), buffer.element_bytes,
                                         std::multiplies<>());
    allocated += bytes;
    largest = std::max(largest, bytes);
  }
  for (const StoreCost& store : cost.stores) {
    entries += store.entries;
    l2 += store.l2;
    l3 += store.l3;
    compute += store.compute();
  }
  row.number("num_stores", static_cast<double>(nest.stores.size()));
  row.number("num_loops", static_cast<double>(nest.loops.size()));
  row.count("allocated_bytes", allocated);
  row.count("largest_allocation", largest);
  row.count("parallel_extent", cost.parallel_extent);
  row.count("threads_cycles", cost.threads_cycles);
  row.count("compute_cycles", compute);
  row.count("all_entry_cycles", entries);
  row.count("all_l2_cycles", l2);
  row.count("all_l3_cycles", l3);
  row.count("total_cycles", cost.total());
  const double most = cost.cycles.empty() ? 0 : *std::max_element(cost.cycles.begin(), cost.cycles.end());
  row.number("largest_share", most / std::max(cost.total(), 1.0));
}

StoreView view_of(const Nest& nest, const Footprints& footprints, const target::Features& features,
                  size_t place, const StoreCost& cost) {
  StoreView view{nest, footprints, features, place, cost, nest.chain_of(nest.stores[place])};
  view.runs = cost.body.iterations * cost.body.copies * cost.body.lanes;
  return view;
}

}  // namespace

std::vector<std::string> store_feature_names() {
  Nest nest;
  nest.stores.emplace_back();
  const target::Features features;
  const Footprints footprints(nest, features);
  const StoreCost cost;
  std::vector<std::string> names;
  Row row(nullptr, &names);
  add_store(row, view_of(nest, footprints, features, 0, cost));
  return names;
}

std::vector<std::string> program_feature_names() {
  std::vector<std::string> names = store_feature_names();
  Row row(nullptr, &names);
  add_program(row, {}, {});
  return names;
}

Described describe(const ir::IRModule& module, const target::Features& features) {
  const Nest nest = nest_of(module);
  const Footprints footprints(nest, features);
  Described result{cost_of(nest, footprints, features), {}, {}};
  for (size_t n = 0; n < nest.stores.size(); ++n) {
    Row row(&result.stores.emplace_back());
    add_store(row, view_of(nest, footprints, features, n, result.cost.stores[n]));
  }
  const std::vector<double>& cycles = result.cost.cycles;
  if (!cycles.empty())
    result.all =
        result.stores[static_cast<size_t>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin())];
  else
    result.all.resize(store_feature_names().size());
  Row row(&result.all);
  add_program(row, nest, result.cost);
  return result;
}

}  // namespace tilewright::tune
