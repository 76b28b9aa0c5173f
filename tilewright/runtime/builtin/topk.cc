// The k largest or smallest along one dimension.  A function of the runtime, no loop nest: what is done with
// a value depends on those before it, and nothing is done with most but for one comparison, which vectors of
// any processor do as fast as memory gives values.  Results are the same whatever the number of threads:
// ranks (selection.h) have no equals, so that parts of a line may be searched apart.
#include <memory>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/selection.h"
#include "tilewright/runtime/thread_pool.h"

namespace tilewright::runtime::builtin {
namespace {

constexpr int64_t kColumns = 16;      // neighbouring lines that are copied together where they are strided
constexpr int64_t kChunk = 4096;      // elements that stay near the core
constexpr int64_t kLineStep = 272;    // of copies of kColumns lines; not a power of 2: those share sets of L1
constexpr int64_t kFetchedRows = 16;  // so far ahead rows are fetched
constexpr int64_t kWork = 1 << 15;    // elements for which a thread pays
constexpr int64_t kWorkOfResult = 32;    // elements that take as long as one result
constexpr int64_t kLeastPart = 1 << 14;  // elements of a part of a line

/// What is searched, and where results go; `values` or `indices` may be null.
struct Search {
  Tensor x, values, indices;
  Lines lines, kept;
  bool is_largest;
  int64_t k = kept.extent;
  // groups of neighbouring lines, each in parts
  int64_t groups_in_outer = (lines.inner + kColumns - 1) / kColumns,
          num_groups = lines.outer * groups_in_outer, num_parts = parts();

  int64_t parts() const {
    const int64_t threads = num_threads(), most = lines.extent / std::max(kLeastPart, 8 * k);
    int64_t count = 1;
    while (count < most && num_groups * count < 4 * threads && num_groups * count % threads != 0) ++count;
    return std::max(count, (lines.extent - 1) / kMostPositions + 1);
  }
  int64_t part_begin(int64_t part) const {
    return lines.extent / num_parts * part + std::min(part, lines.extent % num_parts);
  }
  int64_t width(int64_t group) const {
    return std::min(kColumns, lines.inner - group % groups_in_outer * kColumns);
  }
  int64_t first_line(int64_t group) const {
    return group / groups_in_outer * lines.inner + group % groups_in_outer * kColumns;
  }
  const std::byte* element(int64_t line, int64_t position) const {
    return x.data_as<std::byte>() + (lines.start(line) + position * lines.inner) * x.dtype().num_bytes();
  }
  /// Writes the results of a line, found at `positions`.
  void put(int64_t line, const std::vector<int64_t>& positions) const;
};

template <class Word>
void copy_words(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                const std::vector<int64_t>& positions) {
  for (int64_t position : positions) {
    std::memcpy(to, from + position * from_stride * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    to += to_stride * static_cast<int64_t>(sizeof(Word));
  }
}

void Search::put(int64_t line, const std::vector<int64_t>& positions) const {
  int64_t to = kept.start(line);
  if (values) {
    const int64_t size = x.dtype().num_bytes();
    const auto copy = size == 1   ? &copy_words<uint8_t>
                      : size == 2 ? &copy_words<uint16_t>
                      : size == 4 ? &copy_words<uint32_t>
                                  : &copy_words<uint64_t>;
    copy(element(line, 0), lines.inner, values.data_as<std::byte>() + to * size, kept.inner, positions);
  }
  for (size_t n = 0; n < positions.size() && indices; ++n, to += kept.inner)
    set_integer(indices, to, positions[n]);
}

/// Copies `count` elements of `width` neighbouring lines, which are `stride` apart in each, in the order in
/// which the largest are wanted.
///
/// line_step  how far the copies of lines are apart; 1: side by side, as they were
template <class E>
using Copy = void (*)(const std::byte* from, int64_t stride, int64_t count, int64_t width, bool is_largest,
                      E* to, int64_t line_step);
template <class T, class E>
void copy_lines(const std::byte* from, int64_t stride, int64_t count, int64_t width, bool is_largest, E* to,
                int64_t line_step) {
  const T* data = reinterpret_cast<const T*>(from);
  const auto next = [&](T value) {
    if constexpr (std::is_floating_point_v<E>)
      return value;
    else
      return in_order(value) ^ (is_largest ? E{0} : E{-1});
  };
  if (stride == 1 || line_step == 1) {
    const int64_t size = stride == 1 ? count : kColumns, runs = stride == 1 ? 1 : count;
    for (int64_t n = 0; n < runs; ++n) {
      for (int64_t i = 0; i < size; ++i) to[n * size + i] = next(data[n * stride + i]);
    }
    return;
  }
  for (int64_t n = 0; n < count; ++n) {
    // no prefetcher sees a stream in rows that are far apart
    if (n + kFetchedRows < count) __builtin_prefetch(data + (n + kFetchedRows) * stride);
    for (int64_t c = 0; c < width; ++c) to[c * line_step + n] = next(data[n * stride + c]);
  }
}

/// How elements of a tensor become elements of type E.
template <class E>
struct Source {
  Copy<E> copy;
  bool is_as_it_is;  // they may be read where they lie
};

/// The largest of each of kColumns lines.
template <class E>
void take_largest_of_lines(const Search& s, const std::byte* data, int64_t count, uint32_t first,
                           const Source<E>& source, E* copied, Selection<E>* selections) {
  if (!source.is_as_it_is) source.copy(data, s.lines.inner, count, kColumns, s.is_largest, copied, 1);
  const E* values = source.is_as_it_is ? reinterpret_cast<const E*>(data) : copied;
  const int64_t stride = source.is_as_it_is ? s.lines.inner : kColumns;
  for (int64_t c = 0; c < kColumns; c += kVectorLanes<E>) {
    Ordered<E> places[kVectorLanes<E>];
    first_of_largest_of_lines(values + c, stride, count, places);
    for (int64_t lane = 0; lane < kVectorLanes<E>; ++lane)
      selections[c + lane].take_one(values[c + lane + places[lane] * stride],
                                    first + static_cast<uint32_t>(places[lane]));
  }
}

/// Shows one part of the lines of a group to their selections.
template <class E>
void select_group(const Search& s, int64_t group, int64_t part, const Source<E>& source,
                  Selection<E>* selections) {
  const int64_t width = s.width(group), chunk = width == 1 ? kChunk : kLineStep, begin = s.part_begin(part),
                end = s.part_begin(part + 1);
  const bool is_in_place = source.is_as_it_is && s.lines.inner == 1;
  E copied[kColumns * kLineStep];
  static_assert(kChunk <= kColumns * kLineStep);
  for (int64_t from = begin; from < end; from += chunk) {
    const int64_t count = std::min(chunk, end - from);
    const auto first = static_cast<uint32_t>(from - begin);
    const std::byte* data = s.element(s.first_line(group), from);
    if (s.k == 1 && width == kColumns) {
      take_largest_of_lines(s, data, count, first, source, copied, selections);
      continue;
    }
    if (!is_in_place) source.copy(data, s.lines.inner, count, width, s.is_largest, copied, chunk);
    const E* values = is_in_place ? reinterpret_cast<const E*>(data) : copied;
    for (int64_t c = 0; c < width; ++c) selections[c].take(values + c * chunk, count, first);
  }
}

/// The results of one part of a line.
template <class E>
struct Found {
  std::vector<Rank<E>> ranks;
  size_t next = 0;  // the first that is not taken
};

// Of equal keys the one of the part before comes first.
template <class E>
void merge_parts(const Search& s, int64_t line, Found<E>* parts) {
  std::vector<int64_t> positions;
  while (static_cast<int64_t>(positions.size()) < s.k) {
    Found<E>* best = nullptr;
    const auto key = [](const Found<E>* part) { return key_of(part->ranks[part->next]); };
    for (Found<E>* part = parts; part < parts + s.num_parts; ++part) {
      if (part->next < part->ranks.size() && (!best || key(part) < key(best))) best = part;
    }
    positions.push_back(s.part_begin(best - parts) + position_of(best->ranks[best->next++]));
  }
  s.put(line, positions);
}

template <class E>
void search(const Search& s, const Source<E>& source) {
  const int64_t room = Selection<E>::room(s.k, s.lines.extent), columns = std::min(kColumns, s.lines.inner),
                num_lines = s.lines.count();
  std::vector<Found<E>> found(s.num_parts > 1 ? static_cast<size_t>(num_lines * s.num_parts) : 0);
  const auto run = [&](int64_t first, int64_t last) {
    const auto ranks = std::make_unique_for_overwrite<Rank<E>[]>(static_cast<size_t>(columns * room));
    std::vector<Selection<E>> selections;
    std::vector<int64_t> positions;
    for (int64_t task = first; task < last; ++task) {
      const int64_t group = task / s.num_parts, part = task % s.num_parts;
      selections.clear();
      for (int64_t c = 0; c < s.width(group); ++c) selections.emplace_back(ranks.get() + c * room, s.k);
      select_group(s, group, part, source, selections.data());
      for (int64_t c = 0; c < s.width(group); ++c) {
        const Rank<E>* own = ranks.get() + c * room;
        const int64_t count = selections[static_cast<size_t>(c)].finish(), line = s.first_line(group) + c;
        if (s.num_parts > 1) {
          found[static_cast<size_t>(line * s.num_parts + part)].ranks.assign(own, own + count);
          continue;
        }
        positions.clear();
        for (int64_t n = 0; n < count; ++n) positions.push_back(position_of(own[n]));
        s.put(line, positions);
      }
    }
  };
  const int64_t work = columns * (s.lines.extent / s.num_parts + kWorkOfResult * s.k);
  parallel_for(s.num_groups * s.num_parts, std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)), run);
  for (int64_t line = 0; line < num_lines && s.num_parts > 1; ++line)
    merge_parts(s, line, found.data() + line * s.num_parts);
}

// data, k, axis, ret_type, largest, results: values, indices or both
Value topk(Args args) {
  const Tensor x = input(args, 0, "topk");
  const int64_t axis = args[2].as_int();
  const std::string kind = args[3].as_string();
  require_arguments("topk", args, kind == "both" ? 7 : 6);
  const Tensor values = kind == "indices" ? Tensor() : args[5].as_tensor();
  const Tensor indices = kind == "values" ? Tensor() : args[kind == "both" ? 6 : 5].as_tensor();
  const Search s{x,
                 values,
                 indices,
                 Lines(x.shape(), axis),
                 Lines((values ? values : indices).shape(), axis),
                 args[4].as_bool()};
  if (s.k == 0 || s.lines.count() == 0) return {};
  if (s.is_largest && x.dtype() == DataType::float_(32)) {
    search(s, Source<float>{&copy_lines<float, float>, true});
    return {};
  }
  if (s.is_largest && x.dtype() == DataType::float_(64)) {
    search(s, Source<double>{&copy_lines<double, double>, true});
    return {};
  }
  with_number_type(x.dtype(), "topk", [&]<class T>(T) {
    using E = Ordered<T>;
    search(s, Source<E>{&copy_lines<T, E>, s.is_largest && std::is_same_v<T, E>});
  });
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.topk", topk, 6}};

}  // namespace

std::span<const Entry> topk_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
