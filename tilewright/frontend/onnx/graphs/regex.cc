// A pattern becomes a graph of steps that read one byte each, and the sets of steps that a string may have reached become
// states (the construction by subsets of Rabin and Scott, 1959).
#include "tilewright/frontend/onnx/graphs/regex.h"

#include <algorithm>
#include <bitset>
#include <compare>
#include <map>
#include <optional>

#include "tilewright/frontend/onnx/graphs/regex_syntax.h"
#include "tilewright/support/error.h"
#include "tilewright/support/utf8.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr size_t kMostSteps = size_t{1} << 16, kMostStates = size_t{1} << 12;

/// A step: reads a byte from `first` to `last`, or none, and goes on with `next`, or with `other`.
struct Step {
  enum Kind : uint8_t { kByte, kEither, kBegin, kEnd, kEdge, kNoEdge, kMatch } kind = kMatch;
  uint8_t first = 0, last = 0;
  size_t next = 0, other = 0;
};

class Steps {
 public:
  explicit Steps(const std::string& pattern) : pattern_(pattern) {
    add({});
    start_ = made(parse_pattern(pattern), 0);
  }
  size_t start() const { return start_; }
  const std::vector<Step>& list() const { return list_; }

  /// True if whether a step is reached depends on where words begin and end.
  bool has_edges() const { return has_edges_; }

  /// Where a string is read: at its beginning, at its end, at an edge of a word or not; nothing if that is not known.
  struct Place {
    bool is_begin = false, is_end = false;
    std::optional<bool> is_edge = {};
  };
  /// The steps of `from` and those that are reached without reading a byte at `place`: those that read one, kMatch, and
  /// those that wait for another place.
  std::vector<size_t> reached(const std::vector<size_t>& from, const Place& place) const {
    std::vector<size_t> open = from, found;
    std::vector<bool> seen(list_.size());
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      const Step& step = list_[at];
      const bool is_edge = step.kind == Step::kEdge || step.kind == Step::kNoEdge;
      const bool goes_on = step.kind == Step::kEither || (step.kind == Step::kBegin && place.is_begin) ||
                           (step.kind == Step::kEnd && place.is_end) ||
                           (is_edge && place.is_edge == (step.kind == Step::kEdge));
      if (step.kind == Step::kEither) open.push_back(step.other);
      if (goes_on)
        open.push_back(step.next);
      else if (step.kind != Step::kBegin && !(is_edge && place.is_edge))
        found.push_back(at);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  size_t add(const Step& step) {
    if (list_.size() == kMostSteps)
      throw Unsupported("pattern \"{}\" has more than {} steps", pattern_, kMostSteps)
          .help("repeat less in it");
    list_.push_back(step);
    return list_.size() - 1;
  }

  // The first step of `pattern`, after which `next` follows.
  size_t made(const Pattern& pattern, size_t next) {
    switch (pattern.kind) {
      case Pattern::kSet: return set(pattern, next);
      case Pattern::kBegin: return add({Step::kBegin, 0, 0, next, 0});
      case Pattern::kEnd: return add({Step::kEnd, 0, 0, next, 0});
      case Pattern::kEdge:
      case Pattern::kNoEdge:
        has_edges_ = true;
        return add({pattern.kind == Pattern::kEdge ? Step::kEdge : Step::kNoEdge, 0, 0, next, 0});
      case Pattern::kRepeated: return repeated(pattern, next);
      case Pattern::kSequence:
        for (size_t n = pattern.parts.size(); n-- > 0;) next = made(pattern.parts[n], next);
        return next;
      case Pattern::kAlternatives: break;
    }
    size_t first = made(pattern.parts[0], next);
    for (size_t n = 1; n < pattern.parts.size(); ++n)
      first = add({Step::kEither, 0, 0, first, made(pattern.parts[n], next)});
    return first;
  }

  size_t repeated(const Pattern& pattern, size_t next) {
    size_t first = next;
    if (pattern.most < 0) {
      first = add({Step::kEither, 0, 0, 0, next});
      const size_t body = made(pattern.parts[0], first);
      list_[first].next = body;
    }
    for (int64_t n = pattern.least; n < pattern.most; ++n)
      first = add({Step::kEither, 0, 0, made(pattern.parts[0], first), next});
    for (int64_t n = 0; n < pattern.least; ++n) first = made(pattern.parts[0], first);
    return first;
  }

  // One of the characters of a set; a set without characters matches nothing.
  size_t set(const Pattern& pattern, size_t next) {
    size_t first = add({Step::kByte, 1, 0, next, 0});
    for (const Pattern::Range& range : pattern.ranges) each_run(range.first, range.last, next, &first);
    return first;
  }

  // Adds the characters `low` to `high` to the alternatives *first, in runs in which every byte has a range of its own.
  void each_run(uint32_t low, uint32_t high, size_t next, size_t* first) {
    constexpr uint32_t kLimits[] = {0x7f, 0x7ff, 0xd7ff, 0xdfff,
                                    0xffff};  // of lengths, and around surrogates
    for (const uint32_t limit : kLimits) {
      if (low > limit || high <= limit) continue;
      each_run(low, limit, next, first);
      return each_run(limit + 1, high, next, first);
    }
    if (low >= 0xd800 && high <= 0xdfff) return;  // no characters
    for (int bits = 6; bits <= 18; bits += 6) {
      const uint32_t mask = (1u << bits) - 1;
      if ((low & ~mask) == (high & ~mask) || low < 0x80) break;
      if ((low & mask) != 0) {
        each_run(low, low | mask, next, first);
        return each_run((low | mask) + 1, high, next, first);
      }
      if ((high & mask) != mask) {
        each_run(low, (high & ~mask) - 1, next, first);
        return each_run(high & ~mask, high, next, first);
      }
    }
    std::string a, b;
    append_character(a, low);
    append_character(b, high);
    size_t run = next;
    for (size_t n = a.size(); n-- > 0;)
      run = add({Step::kByte, static_cast<uint8_t>(a[n]), static_cast<uint8_t>(b[n]), run, 0});
    *first = add({Step::kEither, 0, 0, *first, run});
  }

  const std::string& pattern_;
  std::vector<Step> list_;
  size_t start_ = 0;
  bool has_edges_ = false;
};

bool is_of_word(uint8_t byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
         (byte >= 'a' && byte <= 'z');
}

// Bytes that no step tells apart have one class; returns the first byte of each.
std::vector<uint8_t> number_classes(const Steps& steps, std::vector<uint8_t>* classes) {
  std::bitset<257> begins;
  for (const Step& step : steps.list()) {
    if (step.kind != Step::kByte || step.first > step.last) continue;
    begins.set(step.first);
    begins.set(size_t{step.last} + 1);
  }
  std::vector<uint8_t> firsts{0};
  classes->resize(256);
  for (size_t n = 1; n < 256; ++n) {
    const auto byte = static_cast<uint8_t>(n), before = static_cast<uint8_t>(n - 1);
    if (begins[n] || (steps.has_edges() && is_of_word(byte) != is_of_word(before))) firsts.push_back(byte);
    (*classes)[n] = static_cast<uint8_t>(firsts.size() - 1);
  }
  return firsts;
}

/// Steps that a string may have reached, and whether it ends with a letter of a word where that matters.
struct State {
  std::vector<size_t> steps;
  bool is_after_word = false;
  friend auto operator<=>(const State&, const State&) = default;
};

State next_state(const Steps& steps, const State& state, bool is_begin, uint8_t byte) {
  const bool is_word = steps.has_edges() && is_of_word(byte);
  std::vector<size_t> here = state.steps, next;
  if (steps.has_edges()) here = steps.reached(here, {is_begin, false, state.is_after_word != is_word});
  for (const size_t at : here) {
    const Step& step = steps.list()[at];
    if (step.kind == Step::kByte && byte >= step.first && byte <= step.last) next.push_back(step.next);
  }
  return {steps.reached(next, {}), is_word};
}

}  // namespace

Automaton automaton_of(const std::string& pattern) {
  const Steps steps(pattern);
  Automaton automaton;
  const std::vector<uint8_t> firsts = number_classes(steps, &automaton.classes);
  std::vector<State> states{{steps.reached({steps.start()}, {.is_begin = true}), false}};
  std::map<State, int32_t> numbers;  // without state 0, the only one at the beginning of strings
  for (size_t n = 0; n < states.size(); ++n) {
    for (const uint8_t byte : firsts) {
      State next = next_state(steps, states[n], n == 0, byte);
      const auto [found, is_new] = numbers.emplace(next, static_cast<int32_t>(states.size()));
      if (is_new) states.push_back(std::move(next));
      if (states.size() > kMostStates)
        throw Unsupported("pattern \"{}\" needs more than {} states", pattern, kMostStates)
            .help("repeat less in it, or match in several steps");
      automaton.next.push_back(found->second);
    }
    const std::vector<size_t> at_end =
        steps.reached(states[n].steps, {n == 0, true, states[n].is_after_word});
    automaton.is_end.push_back(std::find(at_end.begin(), at_end.end(), size_t{0}) != at_end.end());
  }
  return automaton;
}

}  // namespace tilewright::frontend::onnx
