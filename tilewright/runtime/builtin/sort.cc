// Sorting along one dimension.  Equal elements keep their order; NaN is the largest value (as in numpy and
// torch).
#include <algorithm>
#include <numeric>
#include <vector>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"

namespace tilewright::runtime::builtin {
namespace {

template <class T>
bool is_below(T a, T b) {
  return a < b || (b != b && a == a);
}

// Calls `take(line, order)` with the positions of each line of `x` in sorted order.
template <class T, class Take>
void for_each_order(const Tensor& x, const Lines& lines, bool descending, const Take& take) {
  std::vector<Wide<T>> values(static_cast<size_t>(lines.extent));
  for (int64_t line = 0; line < lines.count(); ++line) {
    const T* data = x.data_as<T>() + lines.start(line);
    for (size_t n = 0; n < values.size(); ++n) values[n] = data[static_cast<int64_t>(n) * lines.inner];
    auto at = [&](int64_t n) { return values[static_cast<size_t>(n)]; };
    const std::vector<int64_t> order = sorted_positions(lines.extent, [&](int64_t a, int64_t b) {
      return descending ? is_below(at(b), at(a)) : is_below(at(a), at(b));
    });
    take(line, order);
  }
}

// x, axis, descending, result
Value sort(Args args) {
  const Tensor x = input(args, 0, "sort"), result = args[3].as_tensor();
  const Lines lines(x.shape(), args[1].as_int());
  with_number_type(x.dtype(), "sort", [&]<class T>(T) {
    for_each_order<T>(x, lines, args[2].as_bool(), [&](int64_t line, const std::vector<int64_t>& order) {
      const int64_t start = lines.start(line);
      for (size_t n = 0; n < order.size(); ++n)
        result.data_as<T>()[start + static_cast<int64_t>(n) * lines.inner] =
            x.data_as<T>()[start + order[n] * lines.inner];
    });
  });
  return {};
}

// data, axis, descending, result
Value argsort(Args args) {
  const Tensor x = input(args, 0, "argsort"), result = args[3].as_tensor();
  const Lines lines(x.shape(), args[1].as_int());
  with_number_type(x.dtype(), "argsort", [&]<class T>(T) {
    for_each_order<T>(x, lines, args[2].as_bool(), [&](int64_t line, const std::vector<int64_t>& order) {
      for (size_t n = 0; n < order.size(); ++n)
        set_integer(result, lines.start(line) + static_cast<int64_t>(n) * lines.inner, order[n]);
    });
  });
  return {};
}

// The offsets of all elements that differ from element 0 only in the dimensions for which `is_moving` is
// `moving`.
std::vector<int64_t> offsets(ShapeView shape, const std::vector<bool>& is_moving, bool moving) {
  std::vector<int64_t> result{0};
  int64_t stride = 1;
  for (int64_t extent : shape) stride *= extent;
  for (size_t n = 0; n < shape.size(); ++n) {
    stride = shape[n] ? stride / shape[n] : 0;
    if (is_moving[n] != moving) continue;
    std::vector<int64_t> longer;
    for (int64_t base : result) {
      for (int64_t i = 0; i < shape[n]; ++i) longer.push_back(base + i * stride);
    }
    result = std::move(longer);
  }
  return result;
}

// x, axes, keepdims, values, and the positions if one axis is reduced.  Of an even number of elements the
// lower of the two middle ones is the median; the first NaN if there is one
Value median(Args args) {
  const Tensor x = input(args, 0, "median"), values = args[3].as_tensor();
  const Tensor positions = args.size() > 4 ? args[4].as_tensor() : Tensor();
  std::vector<bool> is_reduced(static_cast<size_t>(x.ndim()), args[1].as_shape().empty());
  for (int64_t axis : args[1].as_shape())
    is_reduced[static_cast<size_t>(axis < 0 ? axis + x.ndim() : axis)] = true;
  const std::vector<int64_t> outer = offsets(x.shape(), is_reduced, false),
                             inner = offsets(x.shape(), is_reduced, true);
  with_number_type(x.dtype(), "median", [&]<class T>(T) {
    for (size_t n = 0; n < outer.size(); ++n) {
      auto place = [&](int64_t i) { return outer[n] + inner[static_cast<size_t>(i)]; };
      auto at = [&](int64_t i) { return static_cast<Wide<T>>(x.data_as<T>()[place(i)]); };
      const std::vector<int64_t> order = sorted_positions(
          static_cast<int64_t>(inner.size()), [&](int64_t a, int64_t b) { return is_below(at(a), at(b)); });
      auto nan = std::find_if(order.begin(), order.end(), [&](int64_t i) { return at(i) != at(i); });
      const int64_t middle = nan != order.end() ? *nan : order[(order.size() - 1) / 2];
      values.data_as<T>()[n] = x.data_as<T>()[place(middle)];
      if (positions) set_integer(positions, static_cast<int64_t>(n), middle);
    }
  });
  return {};
}

constexpr Entry kEntries[] = {
    {"tilewright.sort", sort, 4}, {"tilewright.argsort", argsort, 4}, {"tilewright.median", median, 4}};

}  // namespace

std::span<const Entry> sort_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
