#include "tilewright/te/topi/transform.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"

namespace tilewright::topi {
using namespace tir;
namespace {

Tensor moved(const Shape& shape, std::string name, const te::ComputeBody& body) {
  return te::compute(shape, body, {.name = std::move(name)});
}
PrimExpr zero_like(const PrimExpr& axis) { return make_const_int(axis->dtype, 0); }
bool contains(const std::vector<int64_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return moved(shape, "T_reshape", [&](const std::vector<Var>& i) {
    arith::Analyzer analyzer;
    PrimExpr offset = imm(0, kInt64);
    for (size_t n = 0; n < shape.size(); ++n) {
      analyzer.bind(i[n], make_range(zero_like(i[n]), shape[n]));
      offset = offset * shape[n] + PrimExpr(i[n]);
    }
    std::vector<PrimExpr> indices(x.ndim());
    PrimExpr rest = analyzer.simplify(offset);
    for (size_t n = x.ndim(); n-- > 0;) {
      indices[n] = n == 0 ? rest : analyzer.simplify(floormod(rest, x.shape()[n]));
      rest = analyzer.simplify(floordiv(rest, x.shape()[n]));
    }
    return x.at(indices);
  });
}

Tensor transpose(const Tensor& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (int64_t axis : axes) shape.push_back(x.shape()[static_cast<size_t>(axis)]);
  return moved(shape, "T_transpose", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices(axes.size());
    for (size_t n = 0; n < axes.size(); ++n) indices[static_cast<size_t>(axes[n])] = i[n];
    return x.at(indices);
  });
}

Tensor expand_dims(const Tensor& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (size_t n = 0, next = 0; n < x.ndim() + axes.size(); ++n)
    shape.push_back(contains(axes, n) ? imm(1, kInt64) : x.shape()[next++]);
  return moved(shape, "expand_dims", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < i.size(); ++n) {
      if (!contains(axes, n)) indices.push_back(i[n]);
    }
    return x.at(indices);
  });
}

Tensor squeeze(const Tensor& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (size_t n = 0; n < x.ndim(); ++n) {
    if (!contains(axes, n)) shape.push_back(x.shape()[n]);
  }
  return moved(shape, "T_squeeze", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices;
    size_t next = 0;
    for (size_t n = 0; n < x.ndim(); ++n)
      indices.push_back(contains(axes, n) ? imm(0, kInt64) : PrimExpr(i[next++]));
    return x.at(indices);
  });
}

Tensor concat(const std::vector<Tensor>& tensors, int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  std::vector<PrimExpr> starts{zero_like(tensors[0].shape()[dim])};
  for (const Tensor& tensor : tensors) starts.push_back(arith::simplify(starts.back() + tensor.shape()[dim]));
  Shape shape = tensors[0].shape();
  shape[dim] = starts.back();
  return moved(shape, "T_concat", [&](const std::vector<Var>& i) {
    PrimExpr result;
    for (size_t n = tensors.size(); n-- > 0;) {  // the last one if no condition holds
      std::vector<PrimExpr> indices(i.begin(), i.end());
      indices[dim] = PrimExpr(i[dim]) - starts[n];
      const PrimExpr element = tensors[n].at(indices);
      result = result
                   ? call(element->dtype, "if_then_else", {PrimExpr(i[dim]) < starts[n + 1], element, result})
                   : element;
    }
    return result;
  });
}

Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& strides, const Shape& shape) {
  return moved(shape, "T_strided_slice", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < x.ndim(); ++n) indices.push_back(PrimExpr(i[n]) * strides[n] + begin[n]);
    return x.at(indices);
  });
}

std::vector<Tensor> split(const Tensor& x, const std::vector<PrimExpr>& starts, int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  std::vector<Tensor> pieces;
  for (size_t n = 0; n <= starts.size(); ++n) {
    const PrimExpr begin = n == 0 ? zero_like(x.shape()[dim]) : starts[n - 1];
    const PrimExpr end = n == starts.size() ? x.shape()[dim] : starts[n];
    Shape shape = x.shape();
    shape[dim] = arith::simplify(end - begin);
    pieces.push_back(moved(shape, "T_split", [&](const std::vector<Var>& i) {
      std::vector<PrimExpr> indices(i.begin(), i.end());
      indices[dim] = PrimExpr(i[dim]) + begin;
      return x.at(indices);
    }));
  }
  return pieces;
}

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis, const std::string& mode) {
  const auto dim = static_cast<size_t>(axis);
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return moved(shape, "T_take", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> at_x(i.begin(), i.begin() + axis),
        at_indices(i.begin() + axis, i.begin() + axis + static_cast<long>(indices.ndim()));
    const PrimExpr& extent = x.shape()[dim];
    PrimExpr index = tir::cast(extent->dtype, indices.at(at_indices));
    const PrimExpr zero = zero_like(extent);
    if (mode == "wrap")
      index = floormod(index, extent);
    else if (indices.dtype().is_int())
      index = select(index < zero, index + extent, index);
    if (mode == "clip") index = tir::min(tir::max(index, zero), extent - 1);
    at_x.push_back(index);
    at_x.insert(at_x.end(), i.begin() + axis + static_cast<long>(indices.ndim()), i.end());
    return x.at(at_x);
  });
}

Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats) {
  Shape shape;
  const size_t ndim = std::max(x.ndim(), repeats.size()), x_skip = ndim - x.ndim(),
               r_skip = ndim - repeats.size();
  for (size_t n = 0; n < ndim; ++n) {
    const PrimExpr extent = n < x_skip ? imm(1, kInt64) : x.shape()[n - x_skip];
    shape.push_back(n < r_skip ? extent : extent * repeats[n - r_skip]);
  }
  return moved(shape, "T_tile", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < x.ndim(); ++n) {
      const size_t at = n + x_skip;
      const bool is_repeated = at >= r_skip && repeats[at - r_skip] != 1;
      indices.push_back(is_repeated ? floormod(PrimExpr(i[at]), x.shape()[n]) : PrimExpr(i[at]));
    }
    return x.at(indices);
  });
}

Tensor repeat(const Tensor& x, int64_t repeats, int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  Shape shape = x.shape();
  shape[dim] = shape[dim] * repeats;
  return moved(shape, "T_repeat", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices(i.begin(), i.end());
    indices[dim] = floordiv(indices[dim], repeats);
    return x.at(indices);
  });
}

Tensor flip(const Tensor& x, int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  return moved(x.shape(), "T_flip", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices(i.begin(), i.end());
    indices[dim] = x.shape()[dim] - 1 - indices[dim];
    return x.at(indices);
  });
}

Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t axis, int64_t batch_axis) {
  const auto along = static_cast<size_t>(axis), batch = static_cast<size_t>(batch_axis);
  return moved(x.shape(), "T_reverse_sequence", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> at(i.begin(), i.end());
    const PrimExpr place = at[along];
    const PrimExpr length = tir::min(tir::cast(place->dtype, lengths(i[batch])), x.shape()[along]);
    at[along] = tir::select(place < length, length - 1 - place, place);
    return x.at(at);
  });
}

Tensor full(const Shape& shape, DataType dtype, const PrimExpr& value) {
  return moved(shape, "T_full", [&](const std::vector<Var>&) { return tir::cast(dtype, value); });
}

Tensor arange(const PrimExpr& start, const PrimExpr& step, const PrimExpr& count, DataType dtype) {
  return moved({count}, "T_arange",
               [&](const std::vector<Var>& i) { return tir::cast(dtype, start + PrimExpr(i[0]) * step); });
}

Tensor pad_with_own(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                    const std::string& mode) {
  Shape shape;
  for (size_t n = 0; n < x.ndim(); ++n)
    shape.push_back(arith::simplify(x.shape()[n] + (before[n] + after[n])));
  return moved(shape, "T_pad", [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < x.ndim(); ++n) {
      PrimExpr index = PrimExpr(i[n]) - before[n];
      const PrimExpr last = x.shape()[n] - 1, zero = zero_like(index);
      if (before[n] == 0 && after[n] == 0)
        indices.push_back(i[n]);
      else if (mode == "edge")
        indices.push_back(tir::min(tir::max(index, zero), last));
      else
        indices.push_back(select(index < zero, -index, select(index > last, last * 2 - index, index)));
    }
    return x.at(indices);
  });
}

}  // namespace tilewright::topi
