// The k largest of a line, found in one pass: most elements are only compared with a bar, the last of the k
// first so far, a block at a time.  Elements are float, double, int32_t or int64_t; others are put into order as
// one of these (in_order), and so are those of which the smallest are wanted.
#pragma once
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "tilewright/runtime/builtin/elements.h"

namespace tilewright::runtime::builtin {

/// The integer type that orders values of type T.
template <class T>
using Ordered = std::conditional_t<sizeof(T) <= 4, int32_t, int64_t>;

/// An integer that is larger where the value is; NaN is the largest, and both zeros are one.
template <class T>
Ordered<T> in_order(T value) {
  using Int = Ordered<T>;
  constexpr Int kMost = std::numeric_limits<Int>::max();
  if constexpr (std::is_floating_point_v<T>) {
    const auto bits = std::bit_cast<Int>(value + 0);  // -0 + 0 is 0
    return value != value ? kMost : bits ^ ((bits >> (8 * sizeof(Int) - 1)) & kMost);
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(Int)) {
    return static_cast<Int>(value ^ (T{1} << (8 * sizeof(T) - 1)));
  } else {
    return value;
  }
}
template <uint8_t kCode>
int32_t in_order(SmallFloat<kCode, uint16_t> value) {
  constexpr int32_t kInfinity = kCode == DataType::kFloat ? 0x7c00 : 0x7f80;
  const int32_t magnitude = value.bits & 0x7fff;
  return magnitude > kInfinity ? 0x7fff : value.bits >> 15 ? -magnitude : magnitude;
}

/// Lower where a value comes before: it is larger, or equal and at an earlier position.  No two are equal.
struct WideRank {
  uint64_t key;
  uint32_t position;
  bool operator<(const WideRank& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};
template <class E>
using Rank = std::conditional_t<sizeof(E) <= 4, uint64_t, WideRank>;
/// The most positions that ranks tell apart.
inline constexpr int64_t kMostPositions = int64_t{1} << 32;

template <class E>
Rank<E> rank_of(E value, uint32_t position) {
  const auto key =
      static_cast<std::make_unsigned_t<Ordered<E>>>(in_order(value) ^ std::numeric_limits<Ordered<E>>::max());
  if constexpr (sizeof(E) <= 4)
    return uint64_t{key} << 32 | position;
  else
    return {key, position};
}
inline uint64_t key_of(uint64_t rank) { return rank >> 32; }
inline uint64_t key_of(const WideRank& rank) { return rank.key; }
inline uint32_t position_of(uint64_t rank) { return static_cast<uint32_t>(rank); }
inline uint32_t position_of(const WideRank& rank) { return rank.position; }

/// As many bytes as are compared at once.
inline constexpr size_t kVectorBytes = 64;
template <class E>
using Vector [[gnu::vector_size(kVectorBytes)]] = E;
template <class E>
inline constexpr int64_t kVectorLanes = static_cast<int64_t>(kVectorBytes / sizeof(E));

/// True if the comparison that made `mask` holds for no element.
template <class Mask>
bool holds_nowhere(const Mask& mask) {
  uint64_t words[kVectorBytes / 8], any = 0;
  std::memcpy(words, &mask, sizeof words);
  for (uint64_t word : words) any |= word;
  return any == 0;
}

/// The position of the first of the largest of `count` values.
template <class E>
int64_t first_of_largest(const E* values, int64_t count) {
  constexpr int64_t kLanes = kVectorLanes<E>;
  E best = std::numeric_limits<E>::has_infinity ? -std::numeric_limits<E>::infinity()
                                                : std::numeric_limits<E>::lowest();
  Vector<E> lanes = best + Vector<E>{}, next;
  auto is_nan = lanes != lanes;
  int64_t n = 0;
  for (; n + kLanes <= count; n += kLanes) {
    std::memcpy(&next, values + n, sizeof next);
    if constexpr (std::is_floating_point_v<E>) is_nan |= next != next;
    lanes = next > lanes ? next : lanes;
  }
  bool has_nan = !holds_nowhere(is_nan);
  for (; n < count; ++n) {
    has_nan |= values[n] != values[n];
    best = std::max(best, values[n]);
  }
  if (has_nan) return std::find_if(values, values + count, [](E v) { return v != v; }) - values;
  for (int64_t lane = 0; lane < kLanes; ++lane) best = std::max(best, lanes[lane]);
  for (n = 0; n + kLanes <= count; n += kLanes) {
    std::memcpy(&next, values + n, sizeof next);
    if (!holds_nowhere(next == best)) break;
  }
  return std::find(values + n, values + count, best) - values;
}

/// The first of the largest of lines that lie side by side, `stride` apart from element to element; NaN is the
/// largest.
///
/// places  of kVectorLanes lines
template <class E>
void first_of_largest_of_lines(const E* values, int64_t stride, int64_t count, Ordered<E>* places) {
  Vector<E> best, next;
  Vector<Ordered<E>> at = {};
  std::memcpy(&best, values, sizeof best);
  for (int64_t n = 1; n < count; ++n) {
    std::memcpy(&next, values + n * stride, sizeof next);
    auto is_better = next > best;
    if constexpr (std::is_floating_point_v<E>) is_better |= (next != next) & (best == best);
    best = is_better ? next : best;
    at = is_better ? static_cast<Ordered<E>>(n) + Vector<Ordered<E>>{} : at;
  }
  std::memcpy(places, &at, sizeof at);
}

/// Keeps the k largest of the values that it is given in order.
template <class E>
class Selection {
 public:
  /// The ranks that a selection of k of `extent` values needs room for.
  static int64_t room(int64_t k, int64_t extent) { return std::min(2 * k + kSpare, extent) + kBlock; }
  Selection(Rank<E>* ranks, int64_t k) : ranks_(ranks), k_(k) {}

  /// values  at positions `first`, ...
  void take(const E* values, int64_t count, uint32_t first) {
    int64_t n = 0;
    if (k_ == 1) {
      n = first_of_largest(values, count);
      return take_one(values[n], first + static_cast<uint32_t>(n));
    }
    if (size_ == 0) guess_bar(values, count);
    for (; n < count && !has_bar_; ++n) {
      ranks_[size_++] = rank_of(values[n], first + static_cast<uint32_t>(n));
      if (size_ == 2 * k_ + kSpare) drop_last();
    }
    if constexpr (kHasSlowVectors) {
      for (; n < count; ++n) {
        if (!(values[n] <= bar_)) take_block(values + n, 1, first + static_cast<uint32_t>(n));
      }
    }
    for (; n < count; n += kBlock) {
      const int64_t size = std::min(kBlock, count - n);
      if (size == kBlock && !may_have_better(values + n)) continue;
      take_block(values + n, size, first + static_cast<uint32_t>(n));
    }
  }
  /// The largest of some values, of which k is 1.
  void take_one(E value, uint32_t position) {
    const Rank<E> rank = rank_of(value, position);
    if (size_ == 0 || rank < ranks_[0]) ranks_[0] = rank;
    size_ = 1;
  }

  /// The number of ranks, k or all there were; they stand in order from now on.
  int64_t finish() {
    if (k_ <= kFew) {
      std::partial_sort(ranks_, ranks_ + std::min(size_, k_), ranks_ + size_);
    } else {
      if (size_ > 2 * k_) {
        std::nth_element(ranks_, ranks_ + k_, ranks_ + size_);
        size_ = k_;
      }
      std::sort(ranks_, ranks_ + size_);
    }
    return size_ = std::min(size_, k_);
  }

 private:
  static constexpr int64_t kSpare = 64;  // ranks beside 2 k before the last ones are dropped
  static constexpr int64_t kFew = 8;     // results that are picked out of the others one by one
  static constexpr int64_t kBlock = 2 * kVectorLanes<E>;
  // Machines of any kind compare vectors of floats and of small integers fast.
  static constexpr bool kHasSlowVectors = std::is_integral_v<E> && sizeof(E) == 8;

  void guess_bar(const E* values, int64_t count) {
    if (k_ <= 6)
      guess_bar_of<16>(values, count);
    else if (k_ <= 12)
      guess_bar_of<32>(values, count);
    else if (k_ <= 32)
      guess_bar_of<64>(values, count);
  }

  // Of the maxima of kGroups groups of values, k are at least as large as the k-th of them: nothing below is
  // wanted.
  template <size_t kGroups>
  void guess_bar_of(const E* values, int64_t count) {
    constexpr auto kStep = static_cast<int64_t>(kGroups);
    constexpr size_t kVectors = kGroups / kVectorLanes<E>;
    if (count < 2 * kStep) return;
    E maxima[kGroups];
    if constexpr (kHasSlowVectors) {
      // a part has to do where few are wanted: then few that are not pass
      const int64_t end = kGroups <= 16 ? std::max(count / 4, 2 * kStep) : count;
      std::memcpy(maxima, values, sizeof maxima);
      for (int64_t n = kStep; n + kStep <= end; n += kStep) {
        for (size_t j = 0; j < kGroups; ++j)
          maxima[j] = std::max(maxima[j], values[n + static_cast<int64_t>(j)]);
      }
    } else {
      Vector<E> largest[kVectors], next;
      std::memcpy(largest, values, sizeof largest);
      for (int64_t n = kStep; n + kStep <= count; n += kStep) {
        for (size_t v = 0; v < kVectors; ++v) {
          std::memcpy(&next, values + n + static_cast<int64_t>(v) * kVectorLanes<E>, sizeof next);
          largest[v] = next > largest[v] ? next : largest[v];
        }
      }
      std::memcpy(maxima, largest, sizeof maxima);
    }
    for (E maximum : maxima) {
      if (maximum != maximum) return;  // NaN hides what comes after it in its group
    }
    const E least = largest_but<kGroups>(maxima, k_ - 1);
    raise_bar(rank_of(least, std::numeric_limits<uint32_t>::max()));
  }

  // The largest of some values if `count` larger ones are left out.
  template <size_t kCount>
  static E largest_but(E (&values)[kCount], int64_t count) {
    if constexpr (sizeof(E) == 8) {
      std::nth_element(values, values + count, values + kCount, std::greater<E>());
      return values[count];
    }
    // vectors compare each with all others sooner
    Ordered<E> num_larger[kCount] = {};
    for (size_t i = 0; i < kCount; ++i) {
      for (size_t j = 0; j < kCount; ++j) num_larger[j] += values[i] > values[j];
    }
    E least = values[0];
    bool is_found = false;
    for (size_t j = 0; j < kCount; ++j) {
      if (num_larger[j] > count || (is_found && values[j] >= least)) continue;
      least = values[j];
      is_found = true;
    }
    return least;
  }

  // False if no value of a block is larger than the bar; NaN may be.
  bool may_have_better(const E* values) const {
    Vector<E> a, b;
    std::memcpy(&a, values, sizeof a);
    std::memcpy(&b, values + kVectorLanes<E>, sizeof b);
    return !holds_nowhere(~((a <= bar_) & (b <= bar_)));
  }

  // Without branches: a processor would guess them wrong for each value that is better.
  void take_block(const E* values, int64_t count, uint32_t first) {
    uint32_t places[kBlock], num_places = 0;
    for (int64_t n = 0; n < count; ++n) {
      places[num_places] = static_cast<uint32_t>(n);
      num_places += !(values[n] <= bar_);
    }
    for (uint32_t n = 0; n < num_places; ++n) {
      const Rank<E> rank = rank_of(values[places[n]], first + places[n]);
      ranks_[size_] = rank;
      size_ += rank < last_;
    }
    if (size_ >= 2 * k_ + kSpare) drop_last();
  }

  void drop_last() {
    std::nth_element(ranks_, ranks_ + k_ - 1, ranks_ + size_);
    size_ = k_;
    raise_bar(ranks_[k_ - 1]);
  }

  // Values before `rank` are wanted from now on.
  void raise_bar(Rank<E> rank) {
    using Int = Ordered<E>;
    constexpr Int kMost = std::numeric_limits<Int>::max();
    Int order = static_cast<Int>(key_of(rank)) ^ kMost;
    if (order == std::numeric_limits<Int>::lowest()) return;  // there is nothing below
    --order;                                                  // equal ones may be at earlier positions
    if constexpr (std::is_floating_point_v<E>) {
      if (order == -1) --order;  // -0, which is as large as 0
      bar_ = std::bit_cast<E>(order ^ ((order >> (8 * sizeof(Int) - 1)) & kMost));
    } else {
      bar_ = order;
    }
    has_bar_ = true;
    last_ = rank;
  }

  Rank<E>* ranks_;
  int64_t k_, size_ = 0;
  bool has_bar_ = false;
  Rank<E> last_{};  // what comes after it is not wanted
  E bar_{};         // nor are values up to this one
};

}  // namespace tilewright::runtime::builtin
