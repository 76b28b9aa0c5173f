// DFT and STFT.  Source: onnx.ai/onnx/operators, opset 17 to 20.
#include "tilewright/frontend/onnx/graphs/fourier_graph.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {
namespace {

// The number in input `input`, an extent.
ir::PrimExpr one_number(const NodeMath& math, size_t input, std::string_view name) {
  const relax::Shape numbers = math.importer().require_known(math.node(), input);
  if (numbers.size() != 1) throw UserError("{} has {} elements, expected 1", name, numbers.size());
  return numbers[0];
}

// True if the last dimension of `x` holds pairs, false if it holds single numbers.
bool holds_pairs(const NodeMath& math, const Expr& x, std::string_view name) {
  const relax::Shape& shape = math.shape(x);
  const auto count = shape.empty() ? std::nullopt : constant_extent(shape.back());
  if (!shape.empty() && !count)
    throw Unsupported(
        "{} is {}, whose last dimension is known only at run time: it says whether numbers are pairs", name,
        relax::shape_text(shape))
        .help("give the input of the model a last dimension of 1 or 2");
  if (!count || (*count != 1 && *count != 2))
    throw UserError("{} is {}, expected a last dimension of 1 or 2: real numbers, or pairs", name,
                    relax::shape_text(shape));
  return *count == 2;
}

ir::PrimExpr half_of(const NodeMath& math, const ir::PrimExpr& length) {
  return math.importer().facts.simplify(tir::operator+(tir::floordiv(length, int64_t{2}), int64_t{1}));
}

// [.., n, 1 or 2] as [.., n or n * 2]
Expr flat(const NodeMath& math, const Expr& x) {
  relax::Shape shape = math.shape(x);
  const ir::PrimExpr last = shape.back();
  shape.pop_back();
  shape.back() = math.importer().facts.simplify(tir::operator*(shape.back(), last));
  return math.reshaped(x, shape);
}
Expr in_pairs(const NodeMath& math, const Expr& x, int64_t size) {
  relax::Shape shape = math.shape(x);
  shape.back() = quotient(math.importer(), shape.back(), relax::extent_imm(size));
  shape.push_back(relax::extent_imm(size));
  return math.reshaped(x, shape);
}

// The order of dimensions with `axis` last but one.
std::vector<int64_t> axis_to_end(int64_t axis, size_t ndim) {
  std::vector<int64_t> axes;
  for (int64_t n = 0; n < static_cast<int64_t>(ndim) - 1; ++n) {
    if (n != axis) axes.push_back(n);
  }
  axes.push_back(axis);
  axes.push_back(static_cast<int64_t>(ndim) - 1);
  return axes;
}
std::vector<int64_t> inverse_of(const std::vector<int64_t>& order) {
  std::vector<int64_t> inverse(order.size());
  for (size_t n = 0; n < order.size(); ++n) inverse[static_cast<size_t>(order[n])] = static_cast<int64_t>(n);
  return inverse;
}

int64_t axis_of(const NodeMath& math, size_t ndim) {
  int64_t axis = int_attr(math.node(), "axis", math.importer().opset < 20 ? 1 : -2);
  if (math.importer().has_input(math.node(), 2)) {
    const std::vector<int64_t> given = math.importer().require_ints(math.node(), 2);
    if (given.size() != 1) throw UserError("axis has {} elements, expected 1", given.size());
    axis = given[0];
  }
  axis = checked_axis(axis, ndim);
  if (axis == static_cast<int64_t>(ndim) - 1)
    throw UserError("axis {} is the last one, which holds real and imaginary parts", axis);
  return axis;
}

void dft(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  Expr x = math.input(0);
  const DataType dtype = relax::dtype_of(x);
  const size_t ndim = math.shape(x).size();
  FourierTransform how;
  how.is_complex = holds_pairs(math, x, "the input");
  how.is_inverse = int_attr(node, "inverse", 0) != 0;
  const bool is_half = int_attr(node, "onesided", 0) != 0;
  if (is_half && !how.is_inverse && how.is_complex)
    throw UserError("onesided is 1, but the input is {}, complex", relax::shape_text(math.shape(x)));
  how.is_real = is_half && how.is_inverse;
  const int64_t axis = axis_of(math, ndim);
  const std::vector<int64_t> order = axis_to_end(axis, ndim);
  const bool is_last = axis == static_cast<int64_t>(ndim) - 2;
  const ir::PrimExpr extent = math.shape(x)[static_cast<size_t>(axis)];
  how.length = importer.has_input(node, 1) ? one_number(math, 1, "dft_length")
               : how.is_real               ? tir::operator*(tir::operator-(extent, int64_t{1}), 2)
                                           : extent;
  importer.require(node, tir::operator<=(relax::extent_imm(1), how.length),
                   "the length of the transform is {}, expected at least 1", how.length);
  const ir::PrimExpr half = half_of(math, how.length);
  how.num_wanted = is_half && !how.is_inverse ? half : how.length;
  how.num_given = importer.facts.simplify(tir::min(extent, how.is_real ? half : how.length));
  x = math.cast(is_last ? x : math.permuted(x, order), topi::dtype_of_sums(dtype));
  x = math.first(x, static_cast<int64_t>(ndim) - 2, how.num_given);
  const Expr all = in_pairs(math, fourier_transform(math, flat(math, x), how), how.is_real ? 1 : 2);
  const Expr result = math.cast(all, dtype);
  math.result(0, is_last ? result : math.permuted(result, inverse_of(order)));
}

// `signal` [b, length (* 2)] in frames [b, frames, frame_length (* 2)].
Expr frames_of(const NodeMath& math, const Expr& signal, const ir::PrimExpr& count,
               const ir::PrimExpr& length, const ir::PrimExpr& step) {
  const Expr starts = math.multiply(math.counted(count), math.extent(step));
  const Expr places = math.add(math.with_axes(starts, {1}), math.counted(length));
  return math.call("relax.take", {signal, places}, {{"axis", attr(int64_t{1})}, {"mode", attr("clip")}});
}

void stft(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr signal = math.input(0), window = math.input(2);
  math.require_ndim(signal, 3, "signal");
  const DataType dtype = relax::dtype_of(signal), sums = topi::dtype_of_sums(dtype);
  FourierTransform how;
  how.is_complex = holds_pairs(math, signal, "signal");
  const bool is_half = int_attr(node, "onesided", 1) != 0 && !how.is_complex;
  if (window) math.require_ndim(window, 1, "window");
  const ir::PrimExpr whole = math.shape(signal)[1], step = one_number(math, 1, "frame_step");
  how.length = importer.has_input(node, 3) ? one_number(math, 3, "frame_length")
               : window                    ? math.shape(window)[0]
                                           : whole;
  if (window)
    math.require_equal(math.shape(window)[0], how.length, "window is {}, but frames have {} elements",
                       math.shape(window), how.length);
  const ir::PrimExpr one = relax::extent_imm(1);
  importer.require(node, tir::logical_and(tir::operator<=(one, step), tir::operator<=(one, how.length)),
                   "frame_step is {} and frame_length {}, expected at least 1", step, how.length);
  importer.require(node, tir::operator<=(how.length, whole),
                   "signal has {} elements, fewer than frame_length, which is {}", whole, how.length);
  const ir::PrimExpr count = importer.facts.simplify(
      tir::operator+(tir::floordiv(tir::operator-(whole, how.length), step), int64_t{1}));
  how.num_given = how.length;
  how.num_wanted = is_half ? half_of(math, how.length) : how.length;
  Expr frames = math.cast(frames_of(math, signal, count, how.length, step), sums);
  if (window) frames = math.multiply(frames, math.with_axes(math.cast(window, sums), {1}));
  const Expr all = fourier_transform(math, flat(math, frames), how);
  math.result(0, math.cast(in_pairs(math, all, 2), dtype));
}

constexpr AttributeRule kDft[] = {
    {"axis", Attribute::kInt, kAnyLeast, kAnyMost, 17, 19}, flag("inverse"), flag("onesided")};
constexpr AttributeRule kStft[] = {flag("onesided")};

constexpr ConverterRow kRows[] = {
    {"DFT", dft, 1, 2, kDft, 1, 17, 19},
    {"DFT", dft, 1, 3, kDft, 1, 20},
    {"STFT", stft, 2, 4, kStft, 1, 17},
};

}  // namespace

extern constinit const ConverterTable fourier_info = {kRows};

}  // namespace tilewright::frontend::onnx
