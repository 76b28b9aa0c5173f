#include "tilewright/schedule/legality/witness.h"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// Nests longer than this are cut: each loop to its first iterations.
constexpr int64_t kMaxIterations = 2000;
constexpr int64_t kMaxElements = 64;  // of one instance

using Values = std::unordered_map<const VarNode*, int64_t>;

std::optional<int64_t> evaluate(const PrimExpr& expr, const Values& values);

std::optional<int64_t> evaluate_binary(const BinaryOpNode* op, const Values& values) {
  const std::optional<int64_t> a = evaluate(op->a, values), b = evaluate(op->b, values);
  if (!a || !b) return std::nullopt;
  const auto floor_div = [](int64_t x, int64_t y) {
    return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  };
  switch (op->kind) {
    case Kind::kAdd: return *a + *b;
    case Kind::kSub: return *a - *b;
    case Kind::kMul: return *a * *b;
    case Kind::kMin: return std::min(*a, *b);
    case Kind::kMax: return std::max(*a, *b);
    case Kind::kFloorDiv: return *b == 0 ? std::nullopt : std::optional(floor_div(*a, *b));
    case Kind::kFloorMod: return *b == 0 ? std::nullopt : std::optional(*a - floor_div(*a, *b) * *b);
    case Kind::kEQ: return *a == *b;
    case Kind::kNE: return *a != *b;
    case Kind::kLT: return *a < *b;
    case Kind::kLE: return *a <= *b;
    case Kind::kGT: return *a > *b;
    case Kind::kGE: return *a >= *b;
    case Kind::kAnd: return *a && *b;
    case Kind::kOr: return *a || *b;
    default: return std::nullopt;
  }
}

std::optional<int64_t> evaluate(const PrimExpr& expr, const Values& values) {
  int64_t constant;
  if (as_const_int(expr, &constant)) return constant;
  if (const auto* var = expr.as<VarNode>()) {
    const auto known = values.find(var);
    return known == values.end() ? std::nullopt : std::optional(known->second);
  }
  if (const auto* cast = expr.as<CastNode>(); cast && cast->dtype.is_int())
    return evaluate(cast->value, values);
  if (const auto* op = expr.as<BinaryOpNode>()) return evaluate_binary(op, values);
  return std::nullopt;
}

struct Instance {
  Iteration loops;
  std::vector<int64_t> element;
};

// The elements that one access touches, instance by instance, in program order.
class Instances {
 public:
  Instances(const State& state, const Access& access) : state_(state), access_(access) {
    for (NodeId id = state.node(access.block).parent; id != kNoNode; id = state.node(id).parent) {
      if (state.node(id).is_loop()) loops_.insert(loops_.begin(), id);
    }
    int64_t total = 1;
    for (NodeId id : loops_) {
      int64_t extent;
      if (as_const_int(state.node(id).loop()->extent, &extent))
        total *= std::clamp<int64_t>(extent, 1, 1 << 12);
      total = std::min<int64_t>(total, 1 << 30);
    }
    while (total > kMaxIterations && longest_ > 2) {
      --longest_;
      total = 1;
      for (NodeId id : loops_) {
        int64_t extent;
        if (as_const_int(state.node(id).loop()->extent, &extent))
          total *= std::clamp<int64_t>(extent, 1, longest_);
        total = std::min<int64_t>(total, 1 << 30);
      }
    }
    visit(0);
  }
  std::vector<Instance> found;

 private:
  void visit(size_t depth) {
    if (static_cast<int64_t>(found.size()) > 8 * kMaxIterations) return;
    if (depth == loops_.size()) return add();
    const ForNode* loop = state_.node(loops_[depth]).loop();
    const auto min = evaluate(loop->min, values_), extent = evaluate(loop->extent, values_);
    if (!min || !extent) return;
    for (int64_t n = 0; n < std::min(*extent, longest_); ++n) {
      values_[loop->loop_var.get()] = *min + n;
      visit(depth + 1);
    }
  }
  void add() {
    const auto runs = evaluate(state_.node(access_.block).realize()->predicate, values_);
    if (!runs || *runs == 0) return;
    std::vector<std::pair<int64_t, int64_t>> box;
    int64_t size = 1;
    for (const Range& range : access_.region) {
      const auto min = evaluate(range->min, values_), extent = evaluate(range->extent, values_);
      if (!min || !extent || *extent < 1) return;
      box.emplace_back(*min, std::min(*extent, kMaxElements));
      size *= box.back().second;
      if (size > kMaxElements) return;
    }
    Instance instance;
    for (NodeId id : loops_) instance.loops[id] = values_.at(state_.node(id).loop()->loop_var.get());
    for (int64_t n = 0; n < size; ++n) {
      instance.element.clear();
      int64_t rest = n;
      for (const auto& [min, extent] : box) {
        instance.element.push_back(min + rest % extent);
        rest /= extent;
      }
      found.push_back(instance);
    }
  }

  const State& state_;
  const Access& access_;
  std::vector<NodeId> loops_;
  int64_t longest_ = 1 << 12;
  Values values_;
};

std::string at_text(const State& state, const Iteration& loops, const std::vector<NodeId>& shown) {
  std::string text;
  for (NodeId id : shown) {
    const auto value = loops.find(id);
    if (value == loops.end()) continue;
    text += fmt::format("{}{}={}", text.empty() ? " at " : ", ", state.node(id).name, value->second);
  }
  return text;
}

// A region of several elements may be larger than what is touched.
bool is_one_element(const Access& access) {
  return std::all_of(access.region.begin(), access.region.end(),
                     [](const Range& range) { return is_one(range->extent); });
}

const char* verb_of(const Access& access) {
  if (is_one_element(access)) return access.is_write ? "writes" : "reads";
  return access.is_write ? "may write" : "may read";
}

}  // namespace

std::string find_witness(const State& state, const Access& one, const Access& other,
                         const std::vector<NodeId>& shown,
                         const std::function<bool(const Iteration&, const Iteration&)>& counts) {
  if (one.buffer != other.buffer) return {};
  const Instances first(state, one), second(state, other);
  std::map<std::vector<int64_t>, std::vector<const Instance*>> by_element;
  for (const Instance& instance : second.found) by_element[instance.element].push_back(&instance);
  for (const Instance& instance : first.found) {
    const auto known = by_element.find(instance.element);
    if (known == by_element.end()) continue;
    for (const Instance* met : known->second) {
      if (!counts(instance.loops, met->loops)) continue;
      return fmt::format("block {}{} {} {}[{}], {}{} by block {}{}", state.node(one.block).name,
                         at_text(state, instance.loops, shown), verb_of(one), one.buffer->name,
                         fmt::join(instance.element, ", "), is_one_element(other) ? "" : "perhaps ",
                         other.is_write ? "written" : "read", state.node(other.block).name,
                         at_text(state, met->loops, shown));
    }
  }
  return {};
}

std::string find_collision(const IndexMap& map, const std::vector<PrimExpr>& extents) {
  std::vector<int64_t> lengths;
  int64_t total = 1;
  for (const PrimExpr& extent : extents) {
    int64_t length = 0;
    if (!as_const_int(extent, &length) || length < 1) return {};
    lengths.push_back(std::min(length, kMaxIterations));
    total = std::min(total * lengths.back(), 8 * kMaxIterations);
  }
  std::map<std::vector<int64_t>, std::vector<int64_t>> sources;
  for (int64_t n = 0; n < total; ++n) {
    std::vector<int64_t> source(lengths.size()), place;
    Values values;
    int64_t rest = n;
    for (size_t dim = lengths.size(); dim-- > 0; rest /= lengths[dim]) {
      source[dim] = rest % lengths[dim];
      values[map->initial_indices[dim].get()] = source[dim];
    }
    for (const PrimExpr& index : map->final_indices) {
      const std::optional<int64_t> value = evaluate(index, values);
      if (!value) return {};
      place.push_back(*value);
    }
    const auto [known, is_new] = sources.try_emplace(place, source);
    if (!is_new)
      return fmt::format("[{}] and [{}] both go to [{}]", fmt::join(known->second, ", "),
                         fmt::join(source, ", "), fmt::join(place, ", "));
  }
  return {};
}

void explain_split(Error& error, const State& state, const Access& reader, const Access& writer,
                   NodeId loop) {
  if (reader.buffer != writer.buffer) return;
  const Instances reads(state, reader), writes(state, writer);
  std::map<std::vector<int64_t>, int64_t> written_at;  // element -> iteration of the loop
  for (const Instance& instance : writes.found) {
    const auto at = instance.loops.find(loop);
    if (at != instance.loops.end()) written_at.try_emplace(instance.element, at->second);
  }
  const Instance* first = nullptr;
  const std::string& var = state.node(loop).name;
  for (const Instance& instance : reads.found) {
    const auto now = written_at.find(instance.element);
    if (now == written_at.end()) continue;
    if (!first || first->loops != instance.loops) {
      first = &instance;
      continue;
    }
    const int64_t then = written_at.at(first->element);
    if (then == now->second) continue;
    error.add_note({}, fmt::format("block {}{} reads {}[{}], written at {}={}, and {}[{}], written at {}={}",
                                   state.node(reader.block).name,
                                   at_text(state, instance.loops, state.loops_above(reader.block)),
                                   reader.buffer->name, fmt::join(first->element, ", "), var, then,
                                   reader.buffer->name, fmt::join(instance.element, ", "), var, now->second));
    return;
  }
}

void explain_read(Error& error, const State& state, const Access& reader, const Access& writer, NodeId loop,
                  bool is_later) {
  std::vector<NodeId> shared = state.loops_above(loop);
  shared.push_back(loop);
  const std::string found =
      find_witness(state, reader, writer, shared, [&](const Iteration& x, const Iteration& y) {
        for (NodeId id : shared) {
          if (x.at(id) != y.at(id)) return !is_later || x.at(id) < y.at(id);
        }
        return false;
      });
  if (!found.empty()) error.add_note({}, found);
}

}  // namespace tilewright::schedule
