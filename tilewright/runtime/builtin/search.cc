// Results whose shape depends on the elements: unique, nonzero, slices with bounds from tensors.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/builtin/selection.h"
#include "tilewright/support/count_text.h"

namespace tilewright::runtime::builtin {
namespace {

// The distinct slices of a tensor along a dimension.
struct Groups {
  std::vector<int64_t> first;    // the first slice of each group
  std::vector<int64_t> inverse;  // the group of each slice
  std::vector<int64_t> counts;
};

template <class T>
int compare(const T* data, const Lines& lines, int64_t a, int64_t b) {
  for (int64_t outer = 0; outer < lines.outer; ++outer) {
    const T* start = data + outer * lines.extent * lines.inner;
    for (int64_t inner = 0; inner < lines.inner; ++inner) {
      const T x = start[a * lines.inner + inner], y = start[b * lines.inner + inner];
      if (x < y || (y != y && x == x)) return -1;
      if (y < x || (x != x && y == y)) return 1;
    }
  }
  return 0;
}

// A key, and where it stands.
template <class Key>
struct Ranked {
  Key key;
  uint32_t place;
};

// Sorts by key; equal ones keep their order.  Each byte in which keys differ is one pass, from the lowest on.
template <class Key>
void sort_by_bytes(std::vector<Ranked<Key>>* ranks) {
  Key different = 0;
  for (const Ranked<Key>& each : *ranks) different |= each.key ^ ranks->front().key;
  std::vector<Ranked<Key>> sorted(ranks->size());
  for (size_t shift = 0; shift < 8 * sizeof(Key); shift += 8) {
    const auto byte_of = [shift](Key key) { return static_cast<size_t>(key >> shift) & 255; };
    if (byte_of(different) == 0) continue;
    size_t next[257] = {};  // where the next element with this byte goes
    for (const Ranked<Key>& each : *ranks) ++next[byte_of(each.key) + 1];
    for (size_t n = 1; n < 256; ++n) next[n] += next[n - 1];
    for (const Ranked<Key>& each : *ranks) sorted[next[byte_of(each.key)]++] = each;
    ranks->swap(sorted);
  }
}

// The positions of slices in ascending order; equal ones keep theirs.
template <class T>
std::vector<int64_t> ascending(const T* data, const Lines& lines) {
  if (lines.count() != 1 || lines.extent > kMostPositions)
    return sorted_positions(lines.extent,
                            [&](int64_t a, int64_t b) { return compare(data, lines, a, b) < 0; });
  // single elements: numbers in their order
  using Key = std::make_unsigned_t<Ordered<T>>;
  std::vector<Ranked<Key>> ranks(static_cast<size_t>(lines.extent));
  for (size_t n = 0; n < ranks.size(); ++n)
    ranks[n] = {static_cast<Key>(static_cast<Key>(in_order(data[n])) ^ (Key{1} << (8 * sizeof(Key) - 1))),
                static_cast<uint32_t>(n)};
  sort_by_bytes(&ranks);
  std::vector<int64_t> order(ranks.size());
  for (size_t n = 0; n < ranks.size(); ++n) order[n] = ranks[n].place;
  return order;
}

/// Slices in ascending order, and whether each differs from the one before it.
struct Order {
  std::vector<int64_t> slices;
  std::vector<uint8_t> is_new;
};

template <class T>
Order ordered(const T* data, const Lines& lines) {
  Order order{ascending(data, lines), {}};
  order.is_new.resize(order.slices.size());
  for (size_t n = 0; n < order.slices.size(); ++n)
    order.is_new[n] = n == 0 || compare(data, lines, order.slices[n - 1], order.slices[n]) != 0;
  return order;
}

Groups group(const Order& order, bool sorted) {
  Groups groups;
  groups.inverse.resize(order.slices.size());
  for (size_t n = 0; n < order.slices.size(); ++n) {
    if (order.is_new[n]) {
      groups.first.push_back(order.slices[n]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order.slices[n])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<size_t> by_place(groups.first.size());  // in order of first appearance
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  std::sort(by_place.begin(), by_place.end(),
            [&](size_t a, size_t b) { return groups.first[a] < groups.first[b]; });
  Groups moved;
  std::vector<int64_t> new_number(by_place.size());
  for (size_t n = 0; n < by_place.size(); ++n) {
    moved.first.push_back(groups.first[by_place[n]]);
    moved.counts.push_back(groups.counts[by_place[n]]);
    new_number[by_place[n]] = static_cast<int64_t>(n);
  }
  for (int64_t number : groups.inverse) moved.inverse.push_back(new_number[static_cast<size_t>(number)]);
  return moved;
}

Tensor int64_vector(const std::vector<int64_t>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return Tensor::copy_of(values.data(), values.size() * sizeof(int64_t), shape, DataType::int_(64));
}

// The slices `chosen` of x.
Tensor slices_of(const Tensor& x, const Lines& lines, int64_t axis, const std::vector<int64_t>& chosen) {
  Shape shape(x.shape().begin(), x.shape().end());
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(chosen.size());
  const Tensor result = Tensor::empty(shape, x.dtype());
  const int64_t num_bytes = lines.inner * x.dtype().num_bytes();
  auto* target = result.data_as<std::byte>();
  for (int64_t outer = 0; outer < lines.outer && num_bytes > 0; ++outer) {
    for (int64_t slice : chosen) {
      std::memcpy(target, x.data_as<std::byte>() + (outer * lines.extent + slice) * num_bytes,
                  static_cast<size_t>(num_bytes));
      target += num_bytes;
    }
  }
  return result;
}

// x, sorted, return_index, return_inverse, return_counts, axis (none: unique elements)
Value unique(Args args) {
  Tensor x = input(args, 0, "unique");
  if (args.size() < 6) x = x.reshape(Shape{-1});
  const int64_t given = args.size() < 6 ? 0 : args[5].as_int(), axis = given < 0 ? given + x.ndim() : given;
  if (axis < 0 || axis >= x.ndim())
    throw UserError("unique: axis {} is outside of a tensor with {}", given,
                    count_text(x.ndim(), "dimension"));
  const Lines lines(x.shape(), axis);
  Order order;
  with_number_type(x.dtype(), "unique", [&]<class T>(T) { order = ordered(x.data_as<T>(), lines); });
  const Groups groups = group(order, args[1].as_bool());
  std::vector<Value> results{slices_of(x, lines, axis, groups.first)};
  if (args[2].as_bool()) results.push_back(int64_vector(groups.first));
  if (args[3].as_bool()) results.push_back(int64_vector(groups.inverse));
  if (args[4].as_bool()) results.push_back(int64_vector(groups.counts));
  return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

// x -> [ndim, count]: the indices of the nonzero elements, in row-major order
Value nonzero(Args args) {
  Tensor x = input(args, 0, "nonzero");
  if (x.ndim() == 0) x = x.reshape(Shape{1});
  const int64_t width = x.shape().back(), num_rows = width == 0 ? 0 : x.num_elements() / width;
  Tensor result;
  with_number_type(x.dtype(), "nonzero", [&]<class T>(T) {
    const T* data = x.data_as<T>();
    int64_t count = 0;
    for (int64_t n = 0; n < x.num_elements(); ++n) count += data[n] != 0;
    result = Tensor::empty(Shape{x.ndim(), count}, DataType::int_(64));
    std::vector<int64_t> columns(static_cast<size_t>(width) + 1);  // of a row; the last is never used
    Shape position(x.shape().begin(), x.shape().end() - 1);
    std::fill(position.begin(), position.end(), 0);
    int64_t* target = result.data_as<int64_t>();
    for (int64_t row = 0; row < num_rows; ++row, data += width) {
      int64_t found = 0;
      for (int64_t n = 0; n < width; ++n) {
        columns[static_cast<size_t>(found)] = n;
        found += data[n] != 0;
      }
      for (size_t dim = 0; dim < position.size(); ++dim)
        std::fill_n(target + static_cast<int64_t>(dim) * count, found, position[dim]);
      target = std::copy_n(columns.begin(), found, target + (x.ndim() - 1) * count) - (x.ndim() - 1) * count;
      for (size_t dim = position.size(); dim-- > 0;) {
        if (++position[dim] < x.shape()[dim]) break;
        position[dim] = 0;
      }
    }
  });
  return result;
}

// x, begin, end, strides: bounds as in numpy, one per dimension
Value dynamic_strided_slice(Args args) {
  constexpr std::string_view kWhat = "dynamic_strided_slice";
  const Tensor x = input(args, 0, kWhat), begin = input(args, 1, kWhat), end = input(args, 2, kWhat),
               strides = input(args, 3, kWhat);
  for (const Tensor& bounds : {begin, end, strides}) {
    if (bounds.num_elements() != x.ndim())
      throw UserError("{}: {} bounds for {} with {}", kWhat, bounds.num_elements(), type_str(x),
                      count_text(x.ndim(), "dimension"));
  }
  Shape from, step, shape;
  for (int64_t n = 0; n < x.ndim(); ++n) {
    const int64_t extent = x.shape()[static_cast<size_t>(n)], stride = integer_at(strides, n, kWhat);
    if (stride == 0) throw UserError("{}: the stride of dimension {} is 0", kWhat, n);
    auto bound = [&](const Tensor& bounds) {
      const int64_t value = integer_at(bounds, n, kWhat);
      return std::clamp<int64_t>(value < 0 ? value + extent : value, stride > 0 ? 0 : -1,
                                 stride > 0 ? extent : extent - 1);
    };
    const int64_t first = bound(begin), last = bound(end);
    const int64_t span = stride > 0 ? last - first + stride - 1 : first - last - stride - 1;
    from.push_back(first);
    step.push_back(stride);
    shape.push_back(std::max<int64_t>(span / (stride > 0 ? stride : -stride), 0));
  }
  const Tensor result = Tensor::empty(shape, x.dtype());
  const int64_t bytes = x.dtype().num_bytes();
  char* target = result.data_as<char>();
  Shape position(shape.size(), 0);
  for (int64_t n = 0; n < result.num_elements(); ++n) {
    int64_t at = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      at = at * x.shape()[dim] + from[dim] + position[dim] * step[dim];
    std::memcpy(target + n * bytes, x.data_as<char>() + at * bytes, static_cast<size_t>(bytes));
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++position[dim] < shape[dim]) break;
      position[dim] = 0;
    }
  }
  return result;
}

constexpr Entry kEntries[] = {{"tilewright.unique", unique, 5},
                              {"tilewright.nonzero", nonzero, 1},
                              {"tilewright.dynamic_strided_slice", dynamic_strided_slice, 4}};

}  // namespace

std::span<const Entry> search_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
