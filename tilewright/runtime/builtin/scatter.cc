// Writes elements to the positions that index tensors give.  Negative indices count from the end. Source:
// onnx.ai/onnx/operators (ScatterElements 18, ScatterND 18); torch.Tensor.index_put_
#include <algorithm>
#include <functional>
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

// Combines updates with the elements of a tensor.  Small floats are combined as float32 and rounded once, at
// the end.
template <class T>
class Combine {
 public:
  using Sum = Wide<T>;
  Combine(const Tensor& result, std::string_view reduction)
      : result_(result.data_as<T>()), reduction_(reduction) {
    const auto count = static_cast<size_t>(result.num_elements());
    if (reduction == "mean") counts_.assign(count, 1);
    if constexpr (std::is_same_v<Sum, T>) {
      sums_ = result_;
    } else {
      wide_.assign(result_, result_ + count);
      sums_ = wide_.data();
    }
  }
  void operator()(int64_t at, T update) {
    const Sum value = update;
    Sum& target = sums_[at];
    if (reduction_ == "update")
      target = value;
    else if (reduction_ == "mul")
      target = static_cast<Sum>(target * value);
    else if (reduction_ == "max")
      target = std::max(target, value);
    else if (reduction_ == "min")
      target = std::min(target, value);
    else
      target = static_cast<Sum>(target + value);
    if (!counts_.empty()) ++counts_[static_cast<size_t>(at)];
  }
  void finish() {
    for (size_t n = 0; n < counts_.size(); ++n)
      if (counts_[n] > 1) sums_[n] = static_cast<Sum>(sums_[n] / static_cast<Sum>(counts_[n]));
    for (size_t n = 0; n < wide_.size(); ++n) result_[n] = static_cast<T>(wide_[n]);
  }

 private:
  T* result_;
  Sum* sums_;
  std::vector<Sum> wide_;  // for small floats
  std::string_view reduction_;
  std::vector<int64_t> counts_;  // values combined into each element, for "mean"
};

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

// Replaces elements of a list.
template <class Word>
void replace_in_list(const Tensor& result, const Tensor& indices, const Tensor& updates,
                     std::string_view what) {
  Word* target = result.data_as<Word>();
  const Word* values = updates.data_as<Word>();
  const int64_t extent = result.num_elements();
  with_number_type(indices.dtype(), what, [&]<class I>(I) {
    for (int64_t n = 0; n < indices.num_elements(); ++n)
      target[checked_index(static_cast<int64_t>(indices.data_as<I>()[n]), extent, what)] = values[n];
  });
}

// data, indices, updates, axis, reduction, result
Value scatter_elements(Args args) {
  constexpr std::string_view kWhat = "scatter_elements";
  const Tensor data = input(args, 0, kWhat), indices = input(args, 1, kWhat), updates = input(args, 2, kWhat),
               result = args[5].as_tensor();
  const int64_t given = args[3].as_int();
  const auto axis = static_cast<size_t>(given < 0 ? given + data.ndim() : given);
  bool fits = indices.ndim() == data.ndim() && std::ranges::equal(indices.shape(), updates.shape());
  for (size_t dim = 0; fits && dim < data.shape().size(); ++dim)
    fits = dim == axis || indices.shape()[dim] <= data.shape()[dim];
  if (!fits)
    throw UserError("{}: indices {} and updates {} do not fit data {}", kWhat, type_str(indices),
                    type_str(updates), type_str(data));
  result.copy_from(data);
  if (data.ndim() == 1 && args[4].as_string() == "update") {
    const int64_t size = data.dtype().num_bytes();
    const auto replace = size == 1   ? &replace_in_list<uint8_t>
                         : size == 2 ? &replace_in_list<uint16_t>
                         : size == 4 ? &replace_in_list<uint32_t>
                                     : &replace_in_list<uint64_t>;
    replace(result, indices, updates, kWhat);
    return {};
  }
  const Shape strides = row_major_strides(data.shape());
  with_number_type(data.dtype(), kWhat, [&]<class T>(T) {
    Combine<T> combine(result, args[4].as_string());
    Shape position(indices.shape().size(), 0);
    for (int64_t n = 0; n < indices.num_elements(); ++n, advance(&position, indices.shape())) {
      int64_t at = 0;
      for (size_t dim = 0; dim < position.size(); ++dim)
        at += strides[dim] * (dim == axis
                                  ? checked_index(integer_at(indices, n, kWhat), data.shape()[dim], kWhat)
                                  : position[dim]);
      combine(at, updates.data_as<T>()[n]);
    }
    combine.finish();
  });
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
  with_number_type(data.dtype(), kWhat, [&]<class T>(T) {
    Combine<T> combine(result, args[3].as_string());
    for (int64_t n = 0; n < num_rows; ++n) {
      int64_t at = 0;
      for (int64_t dim = 0; dim < depth; ++dim)
        at +=
            strides[static_cast<size_t>(dim)] * checked_index(integer_at(indices, n * depth + dim, kWhat),
                                                              data.shape()[static_cast<size_t>(dim)], kWhat);
      for (int64_t i = 0; i < row; ++i) combine(at + i, updates.data_as<T>()[n * row + i]);
    }
    combine.finish();
  });
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
  with_number_type(data.dtype(), kWhat, [&]<class T>(T) {
    Combine<T> combine(result, accumulate ? "add" : "update");
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
      combine(at, values.data_as<T>()[broadcast_offset(values.shape(), position)]);
    }
    combine.finish();
  });
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.scatter_elements", scatter_elements, 6},
                              {"tilewright.scatter_nd", scatter_nd, 5},
                              {"tilewright.index_put", index_put, 5}};

}  // namespace

std::span<const Entry> scatter_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
