// Windows of signals and the matrix of mel bands.  Source: onnx.ai/onnx/operators, opset 17.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

DataType output_dtype(const Node& node) {
  return dtype_of(int_attr(node, "output_datatype", 1), "attribute \"output_datatype\"");
}

/// first - second * cos(turn) + third * cos(2 * turn), where turn goes once around.
struct Window {
  double first, second, third;
  double at(double turn) const { return first - second * std::cos(turn) + third * std::cos(2 * turn); }
};
constexpr Window kHann{0.5, 0.5, 0}, kHamming{25.0 / 46, 21.0 / 46, 0}, kBlackman{0.42, 0.5, 0.08};

Expr constant_window(const Window& window, int64_t size, bool is_periodic) {
  const runtime::Tensor data = runtime::Tensor::empty(runtime::Shape{size}, kFloat64);
  // a symmetric window of one element is its middle, as in numpy, where the standard divides 0 by 0
  const bool is_middle = size == 1 && !is_periodic;
  const auto period = static_cast<double>(is_periodic ? size : size - 1);
  for (int64_t n = 0; n < size; ++n)
    data.data_as<double>()[n] =
        window.at(is_middle ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(n) / period);
  return relax::make_constant(data);
}

// Of a size that is known when the graph runs.
Expr open_window(const NodeMath& math, const Window& window, const ir::PrimExpr& size, bool is_periodic) {
  const ir::PrimExpr one = relax::extent_imm(1);
  // a symmetric window of one element begins half a turn later, in its middle
  const ir::PrimExpr period = is_periodic ? size : tir::max(tir::operator-(size, one), one),
                     middle = tir::max(tir::operator-(relax::extent_imm(2), size), relax::extent_imm(0));
  Expr turn = math.scaled(
      math.divide(math.cast(math.counted(size), kFloat64), math.cast(math.extent(period), kFloat64)),
      2 * std::numbers::pi);
  if (!is_periodic)
    turn = math.add(turn, math.scaled(math.cast(math.extent(middle), kFloat64), std::numbers::pi));
  const auto term = [&](double factor, double speed) {
    return math.scaled(math.call("relax.cos", {math.scaled(turn, speed)}), factor);
  };
  const Expr sum = math.add(term(-window.second, 1), number(window.first, kFloat64));
  return window.third == 0 ? sum : math.add(sum, term(window.third, 2));
}

template <const Window& kWindow>
void window(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const relax::Shape size = importer.require_known(node, 0);
  if (size.size() != 1) throw UserError("size has {} elements, expected 1", size.size());
  const bool is_periodic = int_attr(node, "periodic", 1) != 0;
  const auto count = constant_extent(size[0]);
  if (count && *count < 0) throw UserError("size is {}, expected at least 0", *count);
  const Expr values = count ? constant_window(kWindow, *count, is_periodic)
                            : open_window(math, kWindow, size[0], is_periodic);
  math.result(0, math.cast(values, output_dtype(node)));
}

double number_of(Importer& importer, const Node& node, size_t input, std::string_view name) {
  const std::vector<double> given = importer.require_numbers(node, input);
  if (given.size() != 1) throw UserError("{} has {} elements, expected 1", name, given.size());
  return given[0];
}

/// Triangles over the elements of half a spectrum, whose corners are equally far apart in mel.
struct MelBands {
  int64_t num_bands, dft_length, sample_rate;
  double lowest, highest;  // hertz

  int64_t num_rows() const { return dft_length / 2 + 1; }
  static double mel(double hertz) { return 2595 * std::log1p(hertz / 700) / std::numbers::ln10; }
  // The element of the spectrum at corner n.
  int64_t corner(int64_t n) const {
    const double step = (mel(highest) - mel(lowest)) / static_cast<double>(num_bands + 2);
    const double place = static_cast<double>(n) * step + mel(lowest);
    const double hertz = 700 * std::expm1(place / 2595 * std::numbers::ln10);
    return static_cast<int64_t>(
        std::floor(static_cast<double>(dft_length + 1) * hertz / static_cast<double>(sample_rate)));
  }
  runtime::Tensor matrix() const {
    runtime::Tensor result = runtime::Tensor::zeros(runtime::Shape{num_rows(), num_bands}, kFloat64);
    for (int64_t band = 0; band < num_bands; ++band) {
      const int64_t left = corner(band), top = corner(band + 1), right = corner(band + 2);
      const auto set = [&](int64_t row, int64_t part, int64_t whole) {
        if (row >= 0 && row < num_rows())
          result.data_as<double>()[row * num_bands + band] =
              static_cast<double>(part) / static_cast<double>(whole);
      };
      const int64_t end = std::min(right, num_rows());
      if (left == top) set(top, 1, 1);
      for (int64_t row = std::max<int64_t>(left, 0); row < std::min(top + 1, num_rows()) && left < top; ++row)
        set(row, row - left, top - left);
      for (int64_t row = std::max<int64_t>(top, 0); row < end; ++row) set(row, right - row, right - top);
    }
    return result;
  }
};

void mel_weights(Importer& importer, const Node& node) {
  const auto count = [&](size_t input, std::string_view name, int64_t least) {
    const double value = number_of(importer, node, input, name);
    if (value < static_cast<double>(least) || value > kMostExtent)
      throw UserError("{} is {}, expected {} to {}", name, value, least, kMostExtent);
    return static_cast<int64_t>(value);
  };
  const MelBands bands{count(0, "num_mel_bins", 0), count(1, "dft_length", 1), count(2, "sample_rate", 1),
                       number_of(importer, node, 3, "lower_edge_hertz"),
                       number_of(importer, node, 4, "upper_edge_hertz")};
  if (!(bands.lowest >= 0 && bands.lowest <= bands.highest && std::isfinite(bands.highest)))
    throw UserError("bands from {} to {} hertz, expected numbers from 0 on, in order", bands.lowest,
                    bands.highest);
  constexpr double kMostElements = 1 << 28;
  if (static_cast<double>(bands.num_rows()) * static_cast<double>(bands.num_bands) > kMostElements)
    throw Unsupported("a matrix of {} x {} numbers is made when a model is imported", bands.num_rows(),
                      bands.num_bands);
  const NodeMath math(importer, node);
  math.result(0, math.cast(relax::make_constant(bands.matrix()), output_dtype(node)));
}

constexpr AttributeRule kOutput[] = {{"output_datatype", Attribute::kInt}};
constexpr AttributeRule kWindow[] = {{"output_datatype", Attribute::kInt}, flag("periodic")};

constexpr ConverterRow kRows[] = {
    {"BlackmanWindow", window<kBlackman>, 1, 1, kWindow, 1, 17},
    {"HammingWindow", window<kHamming>, 1, 1, kWindow, 1, 17},
    {"HannWindow", window<kHann>, 1, 1, kWindow, 1, 17},
    {"MelWeightMatrix", mel_weights, 5, 5, kOutput, 1, 17},
};

}  // namespace

extern constinit const ConverterTable windows_info = {kRows};

}  // namespace tilewright::frontend::onnx
