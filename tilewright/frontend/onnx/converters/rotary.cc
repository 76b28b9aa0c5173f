// RotaryEmbedding.  Source: onnx.ai/onnx/operators, opset 23.
#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/frontend/onnx/graphs/rotary_graph.h"

namespace tilewright::frontend::onnx {
namespace {

void rotary_embedding(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  RotaryInputs in{math.input(0), math.input(1), math.input(2)};
  const bool is_packed = math.shape(in.x).size() == 3;
  if (is_packed)
    in.x = split_heads(math, in.x, int_attr(node, "num_heads", 0), "X");
  else
    math.require_ndim(in.x, 4, "X");
  in.has_heads_first = !is_packed;
  if (const Expr positions = math.input(3)) {
    in.cos = rows_at(math, in.cos, positions);
    in.sin = rows_at(math, in.sin, positions);
  }
  math.require_ndim(in.cos, 3, "cos_cache");
  math.require_ndim(in.sin, 3, "sin_cache");
  in.is_interleaved = int_attr(node, "interleaved", 0) != 0;
  in.num_turned = int_attr(node, "rotary_embedding_dim", 0);
  const Expr result = rotated(math, in);
  math.result(0, is_packed ? joined_heads(math, result) : result);
}

constexpr AttributeRule kRotaryEmbedding[] = {flag("interleaved"),
                                              {"num_heads", Attribute::kInt, 0, kMostExtent},
                                              {"rotary_embedding_dim", Attribute::kInt, 0, kMostExtent}};

constexpr ConverterRow kRows[] = {
    {"RotaryEmbedding", rotary_embedding, 3, 4, kRotaryEmbedding, 1, 23},
};

}  // namespace

extern constinit const ConverterTable rotary_info = {kRows};

}  // namespace tilewright::frontend::onnx
