// Writes elements to the positions that index tensors give.  Negative indices count from the end. Source:
// onnx.ai/onnx/operators (ScatterElements 18, ScatterND 18); torch.Tensor.index_put_
#include <algorithm>
#include <cstring>
#include <vector>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"

namespace tilewright::runtime::builtin {
namespace {

int64_t checked_index(int64_t index, int64_t extent, std::string_view what) {
  if (index < -extent || index >= extent)
    throw UserError("{}: index {} is outside of a dimension of extent {}", what, index, extent);
  return index < 0 ? index + extent : index;
}

enum class Reduction : uint8_t { kUpdate, kAdd, kMul, kMax, kMin, kMean };
Reduction reduction_of(std::string_view name) {
  if (name == "update") return Reduction::kUpdate;
  if (name == "mul") return Reduction::kMul;
  if (name == "max") return Reduction::kMax;
  if (name == "min") return Reduction::kMin;
  return name == "mean" ? Reduction::kMean : Reduction::kAdd;
}

// Where runs of elements are written: at each of `places` one of `length`.
struct Runs {
  std::vector<int64_t> places;
  int64_t length = 1;
};

template <class Word>
void replace_words(void* target, const void* updates, const std::vector<int64_t>& places) {
  for (size_t n = 0; n < places.size(); ++n)
    static_cast<Word*>(target)[places[n]] = static_cast<const Word*>(updates)[n];
}

void replace(const Tensor& result, const Tensor& updates, const Runs& runs) {
  if (updates.num_elements() == 0) return;
  const int64_t size = result.dtype().num_bytes();
  char *to = result.data_as<char>(), *from = updates.data_as<char>();
  if (runs.length == 1) {
    const auto words = size == 1   ? &replace_words<uint8_t>
                       : size == 2 ? &replace_words<uint16_t>
                       : size == 4 ? &replace_words<uint32_t>
                                   : &replace_words<uint64_t>;
    return words(to, from, runs.places);
  }
  const auto bytes = static_cast<size_t>(runs.length * size);
  for (size_t n = 0; n < runs.places.size(); ++n)
    std::memcpy(to + runs.places[n] * size, from + n * bytes, bytes);
}

// Combines updates with the elements of a tensor.  Small floats are combined as float32 and rounded once, at
// the end.
template <class T>
void combine(const Tensor& result, const Tensor& updates, const Runs& runs, Reduction reduction) {
  using Sum = Wide<T>;
  const auto count = static_cast<size_t>(result.num_elements());
  T* elements = result.data_as<T>();
  std::vector<Sum> wide;  // for small floats
  Sum* sums;
  if constexpr (std::is_same_v<Sum, T>) {
    sums = elements;
  } else {
    wide.assign(elements, elements + count);
    sums = wide.data();
  }
  const auto each = [&](auto both) {
    const T* update = updates.data_as<T>();
    for (const int64_t place : runs.places) {
      for (Sum* target = sums + place; target != sums + place + runs.length; ++target)
        *target = static_cast<Sum>(both(*target, static_cast<Sum>(*update++)));
    }
  };
  if (reduction == Reduction::kMul)
    each([](Sum a, Sum b) { return a * b; });
  else if (reduction == Reduction::kMax)
    each([](Sum a, Sum b) { return std::max(a, b); });
  else if (reduction == Reduction::kMin)
    each([](Sum a, Sum b) { return std::min(a, b); });
  else
    each([](Sum a, Sum b) { return a + b; });
  if (reduction == Reduction::kMean) {
    std::vector<int64_t> counts(count, 1);  // values combined into each element
    for (const int64_t place : runs.places)
      for (int64_t n = 0; n < runs.length; ++n) ++counts[static_cast<size_t>(place + n)];
    for (size_t n = 0; n < count; ++n)
      if (counts[n] > 1) sums[n] = static_cast<Sum>(sums[n] / static_cast<Sum>(counts[n]));
  }
  for (size_t n = 0; n < wide.size(); ++n) elements[n] = static_cast<T>(wide[n]);
}

void write(const Tensor& result, const Tensor& updates, const Runs& runs, std::string_view reduction,
           std::string_view what) {
  const Reduction kind = reduction_of(reduction);
  with_number_type(result.dtype(), what, [&]<class T>(T) {
    if (kind != Reduction::kUpdate) combine<T>(result, updates, runs, kind);
  });
  if (kind == Reduction::kUpdate) replace(result, updates, runs);
}

Shape row_major_strides(ShapeView shape) {
  Shape strides(shape.size(), 1);
  for (size_t n = shape.size(); n-- > 1;) strides[n - 1] = strides[n] * shape[n];
  return strides;
}

// Steps `position` to the next element of `shape` in row-major order.
void advance(Shape* position, ShapeView shape) {
  for (size_t n = shape.size(); n-- > 0;) {
    if (++(*position)[n] < shape[n]) return;
    (*position)[n] = 0;
  }
}

// data, indices, updates, axis, reduction, result
Value scatter_elements(Args args) {
  constexpr std::string_view kWhat = "scatter_elements";
  const Tensor data = input(args, 0, kWhat), indices = input(args, 1, kWhat), updates = input(args, 2, kWhat),
               result = args[5].as_tensor();
  const int64_t given = args[3].as_int();
  const auto axis = static_cast<size_t>(given < 0 ? given + data.ndim() : given);
  bool fits = data.ndim() > 0 && indices.ndim() == data.ndim() &&
              std::ranges::equal(indices.shape(), updates.shape());
  for (size_t dim = 0; fits && dim < data.shape().size(); ++dim)
    fits = dim == axis || indices.shape()[dim] <= data.shape()[dim];
  if (!fits)
    throw UserError("{}: indices {} and updates {} do not fit data {}", kWhat, type_str(indices),
                    type_str(updates), type_str(data));
  result.copy_from(data);
  const Shape strides = row_major_strides(data.shape());
  const ShapeView rows = indices.shape().first(strides.size() - 1);
  const int64_t length = indices.shape().back(), step = axis + 1 == strides.size() ? 0 : 1;
  Runs runs;
  runs.places.resize(static_cast<size_t>(indices.num_elements()));
  Shape position(rows.size(), 0);
  with_number_type(indices.dtype(), kWhat, [&]<class I>(I) {
    const I* index = indices.data_as<I>();
    for (size_t n = 0; n < runs.places.size(); advance(&position, rows)) {
      int64_t row = 0;
      for (size_t dim = 0; dim < rows.size(); ++dim) row += dim == axis ? 0 : strides[dim] * position[dim];
      for (int64_t i = 0; i < length; ++i, ++n)
        runs.places[n] =
            row + step * i +
            strides[axis] * checked_index(static_cast<int64_t>(index[n]), data.shape()[axis], kWhat);
    }
  });
  write(result, updates, runs, args[4].as_string(), kWhat);
  return {};
}

// data, indices [.., k], updates, reduction, result
Value scatter_nd(Args args) {
  constexpr std::string_view kWhat = "scatter_nd";
  const Tensor data = input(args, 0, kWhat), indices = input(args, 1, kWhat), updates = input(args, 2, kWhat),
               result = args[4].as_tensor();
  result.copy_from(data);
  const Shape strides = row_major_strides(data.shape());
  const int64_t depth = indices.shape().back();
  const int64_t row = depth == 0 ? data.num_elements() : strides[static_cast<size_t>(depth - 1)];
  int64_t num_rows = 1;
  for (size_t dim = 0; dim + 1 < indices.shape().size(); ++dim) num_rows *= indices.shape()[dim];
  if (updates.num_elements() != num_rows * row)
    throw UserError("{}: indices {} and updates {} do not fit data {}", kWhat, type_str(indices),
                    type_str(updates), type_str(data));
  Runs runs{std::vector<int64_t>(static_cast<size_t>(num_rows), 0), row};
  with_number_type(indices.dtype(), kWhat, [&]<class I>(I) {
    const I* index = indices.data_as<I>();
    for (int64_t& place : runs.places) {
      for (size_t dim = 0; dim < static_cast<size_t>(depth); ++dim)
        place += strides[dim] * checked_index(static_cast<int64_t>(*index++), data.shape()[dim], kWhat);
    }
  });
  write(result, updates, runs, args[3].as_string(), kWhat);
  return {};
}

bool broadcasts(ShapeView from, ShapeView to) {
  if (from.size() > to.size()) return false;
  for (size_t n = 1; n <= from.size(); ++n) {
    if (from[from.size() - n] != 1 && from[from.size() - n] != to[to.size() - n]) return false;
  }
  return true;
}

// The offset in a tensor of `shape` that corresponds to `position` of a shape it broadcasts to.
int64_t broadcast_offset(ShapeView shape, const Shape& position) {
  int64_t at = 0;
  for (size_t n = 0; n < shape.size(); ++n)
    at = at * shape[n] + (shape[n] == 1 ? 0 : position[position.size() - shape.size() + n]);
  return at;
}

// data, indices..., values, accumulate, result: data[indices...] = values or += values
Value index_put(Args args) {
  constexpr std::string_view kWhat = "index_put";
  const size_t num_indices = args.size() - 4;
  const Tensor data = input(args, 0, kWhat), values = input(args, num_indices + 1, kWhat),
               result = args.back().as_tensor();
  const bool accumulate = args[num_indices + 2].as_bool();
  std::vector<Tensor> indices;
  Shape places;
  for (size_t n = 0; n < num_indices; ++n) {
    indices.push_back(input(args, n + 1, kWhat));
    const ShapeView shape = indices.back().shape();
    while (places.size() < shape.size()) places.insert(places.begin(), 1);
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t& extent = places[places.size() - shape.size() + dim];
      extent = extent == 1 ? shape[dim] : extent;
    }
  }
  const size_t num_places = places.size();
  Shape whole = places;
  whole.insert(whole.end(), data.shape().begin() + static_cast<int64_t>(num_indices), data.shape().end());
  bool fits = broadcasts(values.shape(), whole);
  for (const Tensor& index : indices) fits &= broadcasts(index.shape(), places);
  if (!fits)
    throw UserError("{}: values {} and indices do not fit places {} of data {}", kWhat, type_str(values),
                    shape_str(places), type_str(data));
  result.copy_from(data);
  const Shape strides = row_major_strides(data.shape());
  int64_t total = 1;
  for (int64_t extent : whole) total *= extent;
  Runs runs;
  runs.places.reserve(static_cast<size_t>(total));
  const Tensor updates = Tensor::empty(whole, values.dtype());
  const int64_t size = values.dtype().num_bytes();
  Shape position(whole.size(), 0);
  for (int64_t n = 0; n < total; ++n, advance(&position, whole)) {
    const Shape place(position.begin(), position.begin() + static_cast<int64_t>(num_places));
    int64_t at = 0;
    for (size_t dim = 0; dim < num_indices; ++dim)
      at += strides[dim] *
            checked_index(integer_at(indices[dim], broadcast_offset(indices[dim].shape(), place), kWhat),
                          data.shape()[dim], kWhat);
    for (size_t dim = num_indices; dim < strides.size(); ++dim)
      at += strides[dim] * position[num_places + dim - num_indices];
    runs.places.push_back(at);
    std::memcpy(updates.data_as<char>() + n * size,
                values.data_as<char>() + broadcast_offset(values.shape(), position) * size,
                static_cast<size_t>(size));
  }
  write(result, updates, runs, accumulate ? "add" : "update", kWhat);
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.scatter_elements", scatter_elements, 6},
                              {"tilewright.scatter_nd", scatter_nd, 5},
                              {"tilewright.index_put", index_put, 5}};

}  // namespace

std::span<const Entry> scatter_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
