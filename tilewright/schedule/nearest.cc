// Calls near to a refused one are tried on copies of the schedule, those that change least first.
#include "tilewright/schedule/nearest.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/loops.h"

namespace tilewright::schedule {
namespace {

constexpr size_t kMaxTrials = 16;
constexpr size_t kMaxReordered = 4;  // loops whose orders are all tried

using Loops = std::vector<NodeId>;

Loops reversed(Loops loops) {
  std::reverse(loops.begin(), loops.end());
  return loops;
}

// The first legal call with the same primitive, and the first legal one with another.
class Nearby {
 public:
  Nearby(const State& state, std::string_view primitive, const std::vector<ArgValue>& values)
      : state_(state), primitive_(primitive), values_(values) {}

  std::string text() {
    collect();
    if (found_.empty()) return {};
    return fmt::format("{} would be legal", fmt::join(found_, " or "));
  }

 private:
  void collect() {
    if (primitive_ == "compute_at") {
      into_readers(block());
      inline_into_readers(block());
      into_producers(block());
    } else if (primitive_ == "reverse_compute_at") {
      into_producers(block());
      inline_into_producer(block());
      for (NodeId producer : producers_of(state_, block())) into_loops_of(producer, block());
    } else if (primitive_ == "compute_inline") {
      inline_into_producer(block());
      into_readers(block());
      into_producers(block());
    } else if (primitive_ == "reverse_compute_inline") {
      for (NodeId producer : producers_of(state_, block())) inline_into_readers(producer);
      into_producers(block());
    } else if (primitive_ == "parallel" || primitive_ == "vectorize" || primitive_ == "bind") {
      other_loop();
    } else if (primitive_ == "fuse") {
      whole_path();
    } else if (primitive_ == "reorder") {
      other_orders();
    } else if (primitive_ == "decompose_reduction" || primitive_ == "decompose_padding") {
      for (NodeId loop : reversed(state_.loops_above(block()))) attempt({values_[0], loop_ref(loop)}, 2);
    } else if (primitive_ == "read_at" || primitive_ == "write_at") {
      for (NodeId loop : reversed(state_.loops_above(block(1)))) {
        std::vector<ArgValue> values = values_;
        values[0] = loop_ref(loop);
        attempt(std::move(values), 2);
      }
    } else if (primitive_ == "rfactor") {
      for (NodeId loop : nest_of(loop())) attempt({loop_ref(loop), 0}, 2);
    }
  }

  // ---- moves of a block

  void into_loops_of(NodeId moved, NodeId user) {
    for (NodeId loop : reversed(state_.loops_above(user)))
      attempt("compute_at", {block_ref(moved), loop_ref(loop), false, -1}, 2);
  }
  void into_readers(NodeId moved) {
    for (NodeId reader : consumers_of(state_, moved)) into_loops_of(moved, reader);
  }
  void into_producers(NodeId moved) {
    for (NodeId producer : producers_of(state_, moved)) {
      for (NodeId loop : reversed(state_.loops_above(producer)))
        attempt("reverse_compute_at", {block_ref(moved), loop_ref(loop), false, -1}, 2);
    }
  }
  void inline_into_readers(NodeId moved) { attempt("compute_inline", {block_ref(moved)}, 1); }
  void inline_into_producer(NodeId moved) { attempt("reverse_compute_inline", {block_ref(moved)}, 1); }

  // ---- loops

  // The loops around one and, as long as each is alone in the one around it, inside of it; outermost first.
  Loops nest_of(NodeId loop) {
    Loops nest = state_.loops_above(loop);
    while (loop != kNoNode && state_.node(loop).is_loop()) {
      nest.push_back(loop);
      const std::vector<NodeId>& children = state_.node(loop).children;
      loop = children.size() == 1 ? children[0] : kNoNode;
    }
    return nest;
  }

  void other_loop() {
    const Loops nest = nest_of(loop());
    if (primitive_ == "bind") {
      const auto& axis = given<std::string>(1);
      const std::string kind = axis.substr(0, axis.find('.'));
      for (const char* end : {".x", ".y", ".z"}) attempt({values_[0], kind + end}, 2);
      if (kind != "threadIdx") attempt({values_[0], "threadIdx.x"}, 2);  // where threads may add to one sum
    }
    for (NodeId other : primitive_ == "vectorize" ? reversed(nest) : nest) {
      std::vector<ArgValue> values = values_;
      values[0] = loop_ref(other);
      const size_t num_values = values.size();
      attempt(std::move(values), num_values);
    }
    attempt("rfactor", {values_[0], 0}, 2);
  }

  Loops given_loops() {
    Loops loops;
    for (const ArgValue& item : given<ArgValue::List>(0)) {
      const auto* loop = item.as<LoopRef>();
      if (!loop) throw InternalError("a loop is of another type");
      loops.push_back(state_[*loop]);
    }
    if (loops.empty()) throw InternalError("no loops are given");
    return loops;
  }

  // fuse: all loops from the outermost to the innermost of those that are given
  void whole_path() {
    Loops loops = given_loops();
    const auto depth = [&](NodeId loop) { return state_.loops_above(loop).size(); };
    std::sort(loops.begin(), loops.end(), [&](NodeId a, NodeId b) { return depth(a) < depth(b); });
    ArgValue::List path;
    for (NodeId loop : state_.loops_above(loops.back())) {
      if (state_.is_inside(loop, loops[0])) path.push_back(loop_ref(loop));
    }
    path.push_back(loop_ref(loops.back()));
    if (state_.is_inside(loops.back(), loops[0])) attempt({path, values_[1]}, 1);
  }

  // reorder: the order with the fewest pairs of loops swapped against the one that is wanted
  void other_orders() {
    const Loops wanted = given_loops();
    if (wanted.size() > kMaxReordered) return;
    std::vector<std::pair<size_t, Loops>> orders;
    Loops order = wanted;
    std::sort(order.begin(), order.end());
    do {
      size_t swapped = 0;
      bool is_new = false;
      for (size_t first = 0; first < order.size(); ++first) {
        for (size_t second = first + 1; second < order.size(); ++second) {
          is_new |= !state_.is_inside(order[second], order[first]);
          swapped += std::find(wanted.begin(), wanted.end(), order[first]) >
                     std::find(wanted.begin(), wanted.end(), order[second]);
        }
      }
      if (is_new) orders.emplace_back(swapped, order);
    } while (std::next_permutation(order.begin(), order.end()));
    std::sort(orders.begin(), orders.end());
    for (const auto& [swapped, loops] : orders) {
      ArgValue::List list;
      for (NodeId loop : loops) list.push_back(loop_ref(loop));
      attempt(std::vector<ArgValue>{ArgValue(list)}, 1);
    }
  }

  // ---- trials

  void attempt(std::vector<ArgValue> values, size_t num_shown) {
    attempt(primitive_, std::move(values), num_shown);
  }
  // Keeps the call if it is legal; its text has the first `num_shown` arguments.
  void attempt(std::string_view primitive, std::vector<ArgValue> values, size_t num_shown) {
    const bool is_same = primitive == primitive_;
    bool& is_found = is_same ? has_same_ : has_other_;
    if (is_found || num_trials_++ >= kMaxTrials) return;
    State copy = state_;
    std::vector<ArgValue> done = values;
    try {
      find_primitive(primitive).run(copy, &done);
    } catch (const Error&) {
      return;
    }
    is_found = true;
    std::vector<std::string> args;
    for (size_t n = 0; n < num_shown; ++n) args.push_back(text_of(values[n]));
    found_.push_back(fmt::format("{}({})", primitive, fmt::join(args, ", ")));
  }

  // As errors name them: block C, loop i; of several loops i, loop i around block C.
  std::string text_of(const ArgValue& value) {
    if (const auto* list = value.as<ArgValue::List>()) {
      std::vector<std::string> items;
      for (const ArgValue& item : *list) items.push_back(text_of(item));
      return fmt::format("{}", fmt::join(items, ", "));
    }
    if (const auto* block = value.as<BlockRef>()) return "block " + state_.node(state_[*block]).name;
    const auto* loop = value.as<LoopRef>();
    if (!loop) return value.str();
    const NodeId id = state_[*loop];
    int num_namesakes = 0;
    state_.func_of(id).index.for_each([&](const Object*, NodeId other) {
      num_namesakes += state_.node(other).is_loop() && state_.node(other).name == state_.node(id).name;
    });
    const std::vector<NodeId> blocks = state_.blocks_below(id);
    if (num_namesakes < 2 || blocks.empty()) return "loop " + state_.node(id).name;
    return fmt::format("loop {} around block {}", state_.node(id).name, state_.node(blocks[0]).name);
  }

  // The arguments as they should be; a call may be refused because they are not.
  template <class T>
  const T& given(size_t arg) {
    const T* value = values_[arg].as<T>();
    if (!value) throw InternalError("argument {} is of another type", arg);
    return *value;
  }
  NodeId block(size_t arg = 0) { return state_[given<BlockRef>(arg)]; }
  NodeId loop(size_t arg = 0) { return state_[given<LoopRef>(arg)]; }
  ArgValue block_ref(NodeId id) { return state_.new_block_ref(id); }
  ArgValue loop_ref(NodeId id) { return state_.new_loop_ref(id); }

  State state_;  // a copy, so that it can give out handles
  std::string_view primitive_;
  const std::vector<ArgValue>& values_;
  std::vector<std::string> found_;
  bool has_same_ = false, has_other_ = false;
  size_t num_trials_ = 0;
};

}  // namespace

std::string nearest_legal_calls(const State& state, std::string_view primitive,
                                const std::vector<ArgValue>& values) {
  try {
    return Nearby(state, primitive, values).text();
  } catch (const Error&) {
    return {};  // the arguments are not what the primitive takes
  }
}

}  // namespace tilewright::schedule
