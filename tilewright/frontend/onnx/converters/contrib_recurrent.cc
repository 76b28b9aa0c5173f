// DynamicQuantizeLSTM of com.microsoft.  Inputs and states stay floats, where onnxruntime quantizes them in each step.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

// The weights in input `input`, [directions, rows, 4 hidden], by a scale and a zero point for each direction or each
// column of it, in the order of LSTM: [directions, 4 hidden, rows].
Expr real(const NodeMath& math, size_t input, size_t scale) {
  const Expr given = math.input(input);
  math.require_ndim(given, 3, "a weight");
  const auto of_columns = [&](size_t n) {
    const Expr x = math.cast(math.required(n, "a scale or zero point"), kFloat32);
    return math.with_axes(x,
                          math.shape(x).size() == 1 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
  };
  const Expr steps = math.subtract(math.cast(given, kFloat32), of_columns(scale + 1));
  return math.transposed(math.multiply(steps, of_columns(scale)));
}

void lstm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  std::vector<Expr> inputs{math.input(0), real(math, 1, 8), real(math, 2, 10)};
  for (size_t n = 3; n < 8; ++n) inputs.push_back(math.input(n));
  const size_t count = node.outputs.size();
  const std::vector<Expr> results = math.as_operator("LSTM", inputs, node.attributes, count);
  for (size_t n = 0; n < count; ++n) math.result(n, results[n]);
}

constexpr AttributeRule kLstm[] = {{"activation_alpha", Attribute::kFloats},
                                   {"activation_beta", Attribute::kFloats},
                                   {"activations", Attribute::kStrings},
                                   {"clip", Attribute::kFloat, 0},
                                   {"direction", Attribute::kString},
                                   {"hidden_size", Attribute::kInt, 1, kMostExtent},
                                   flag("input_forget")};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::DynamicQuantizeLSTM", lstm, 3, 12, kLstm, 3, kFirstOpset, kLastOpset, 3, 0},
};

}  // namespace

extern constinit const ConverterTable contrib_recurrent_info = {kRows};

}  // namespace tilewright::frontend::onnx
