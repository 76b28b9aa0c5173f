// Positions in attention of com.microsoft: RotaryEmbedding, MRotaryEmbedding, RelativePositionBias.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <cmath>
#include <functional>

#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/frontend/onnx/graphs/cache_graph.h"
#include "tilewright/frontend/onnx/graphs/rotary_graph.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

// The rows of a cache that belong to the elements of a sequence, [b, s, r / 2].
using Rows = std::function<Expr(const Expr& cache, const ir::PrimExpr& batch, const ir::PrimExpr& tokens)>;

void turn(const NodeMath& math, const Rows& rows) {
  const Node& node = math.node();
  if (int_attr(node, "is_packed_batching", 0) != 0)
    throw Unsupported("attribute \"is_packed_batching\" is 1, supported is 0");
  RotaryInputs in{math.input(0), math.input(2), math.input(3)};
  in.num_turned = int_attr(node, "rotary_embedding_dim", 0);
  in.is_interleaved = int_attr(node, "interleaved", 0) != 0;
  const bool is_packed = math.shape(in.x).size() == 3;
  in.has_heads_first = !is_packed;
  if (is_packed) {
    int64_t num_heads = int_attr(node, "num_heads", 0);
    math.require_ndim(in.cos, 2, "cos_cache");
    const auto size = constant_extent(math.shape(in.cos)[1]), hidden = constant_extent(math.shape(in.x)[2]);
    if (num_heads == 0 && size && hidden && *size > 0) num_heads = *hidden / (2 * *size);
    in.x = split_heads(math, in.x, num_heads, "input");
  } else {
    math.require_ndim(in.x, 4, "input");
  }
  const ir::PrimExpr batch = math.shape(in.x)[0], tokens = math.shape(in.x)[is_packed ? 1 : 2];
  in.cos = rows(in.cos, batch, tokens), in.sin = rows(in.sin, batch, tokens);
  const Expr result = math.scaled(rotated(math, in), float_attr(node, "scale", 1));
  math.result(0, is_packed ? joined_heads(math, result) : result);
}

void rotary_embedding(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  turn(math, [&](const Expr& cache, const ir::PrimExpr& batch, const ir::PrimExpr& tokens) {
    Expr positions = math.cast(math.input(1), kInt64);
    if (math.shape(positions).size() == 1)  // that of the first token
      positions = math.broadcast(math.add(positions, math.counted(tokens)), {batch, tokens});
    return rows_at(math, cache, positions);
  });
}

// ---- positions in time, height and width

// Which of the three positions each pair has: those of a section one after the other, or interleaved as long as sections
// last.
std::vector<int64_t> positions_of_pairs(const NodeMath& math, int64_t num_pairs) {
  const std::vector<int64_t> sections = ints_attr(math.node(), "mrope_section", {});
  if (sections.size() != 3)
    throw UserError("attribute \"mrope_section\" has {}, expected 3", count_text(sections.size(), "number"));
  if (sections[0] + sections[1] + sections[2] != num_pairs)
    throw UserError("mrope_section is {}, {} and {}, expected a sum of {}, the pairs of a head", sections[0],
                    sections[1], sections[2], num_pairs);
  const bool is_interleaved = int_attr(math.node(), "mrope_layout", 0) == 1;
  std::vector<int64_t> chosen;
  for (int64_t n = 0; n < num_pairs; ++n) {
    const int64_t position = n % 3;
    if (is_interleaved)
      chosen.push_back(position > 0 && n < 3 * sections[static_cast<size_t>(position)] ? position : 0);
    else
      chosen.push_back(n < sections[0] ? 0 : n < sections[0] + sections[1] ? 1 : 2);
  }
  return chosen;
}

// True where `chosen` is `which`.
Expr mask_of(const std::vector<int64_t>& chosen, int64_t which) {
  runtime::Tensor mask =
      runtime::Tensor::empty(runtime::Shape{static_cast<int64_t>(chosen.size())}, kBoolType);
  for (size_t n = 0; n < chosen.size(); ++n) mask.data_as<uint8_t>()[n] = chosen[n] == which;
  return relax::make_constant(mask);
}

void rotary_of_pictures(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr all = math.input(1);
  math.require_ndim(all, 3, "position_ids");
  turn(math, [&](const Expr& cache, const ir::PrimExpr& batch, const ir::PrimExpr& tokens) {
    const relax::Shape shape = math.shape(all), expected{relax::extent_imm(3), batch, tokens};
    importer.require(node, relax::is_same_shape(shape, expected), "position_ids is {}, expected {}", shape,
                     expected);
    math.require_ndim(cache, 2, "a cache");
    const auto num_pairs = constant_extent(math.shape(cache)[1]);
    if (!num_pairs) throw Unsupported("the extents of the caches are known only at run time");
    const std::vector<int64_t> chosen = positions_of_pairs(math, *num_pairs);
    const auto rows = [&](int64_t which) {
      const Expr own = math.sliced(all, 0, relax::extent_imm(which), relax::extent_imm(which + 1));
      return rows_at(math, cache, math.reshaped(own, {batch, tokens}));
    };
    return math.where(mask_of(chosen, 2), rows(2), math.where(mask_of(chosen, 1), rows(1), rows(0)));
  });
}

// ---- distances

// A bias for the distance of each key from each query: small distances have numbers of their own, others share one with
// those of about the same logarithm.  The table [distances, heads] is kept column by column.
// Source: Raffel et al., arXiv 1910.10683, 2.1
void relative_position_bias(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr table = math.input(0);
  math.require_ndim(table, 2, "bias_table");
  const auto count = constant_extent(math.shape(table)[0]), heads = constant_extent(math.shape(table)[1]);
  if (!count || !heads) throw Unsupported("the extents of bias_table are known only at run time");
  const ir::PrimExpr queries = one_size(math, 1, "query_length"), keys = one_size(math, 2, "key_length");
  const bool has_sides = int_attr(node, "is_bidirectional", 0) != 0;
  const int64_t most = int_attr(node, "max_distance", 1), num_near = has_sides ? *count / 2 : *count,
                exact = num_near / 2;
  if (exact < 1 || most <= exact)
    throw UserError(
        "bias_table has {} distances for max_distance {}, expected at least {}, and fewer than "
        "half of it",
        *count, most, has_sides ? 4 : 2);
  const auto integer = [](int64_t value) { return number(static_cast<double>(value), kInt64); };
  const Expr ahead = math.subtract(math.counted(keys), math.with_axes(math.counted(queries), {1}));
  const Expr distance = has_sides
                            ? math.call("relax.abs", {ahead})
                            : math.call("relax.negative", {math.call("relax.minimum", {ahead, integer(0)})});
  const double steps = static_cast<double>(num_near - exact) /
                       std::log(static_cast<double>(most) / static_cast<double>(exact));
  const Expr ratio = math.scaled(math.cast(math.call("relax.maximum", {distance, integer(1)}), kFloat32),
                                 1.0 / static_cast<double>(exact));
  const Expr logarithm = math.cast(math.scaled(math.call("relax.log", {ratio}), steps), kInt64);
  const Expr far = math.call("relax.minimum", {math.add(logarithm, integer(exact)), integer(num_near - 1)});
  Expr place = math.where(math.call("relax.less", {distance, integer(exact)}), distance, far);
  if (has_sides) {
    const Expr is_later = math.call("relax.greater", {ahead, integer(0)});
    place = math.where(is_later, math.add(place, integer(num_near)), place);
  }
  const Expr by_head = math.reshaped(table, {relax::extent_imm(*heads), relax::extent_imm(*count)});
  const Expr found =
      math.call("relax.take", {by_head, place}, {{"axis", attr(int64_t{1})}, {"mode", attr("clip")}});
  math.result(0, math.with_axes(found, {0}));
}

constexpr AttributeRule kHeads = {"num_heads", Attribute::kInt, 0, kMostExtent},
                        kTurned = {"rotary_embedding_dim", Attribute::kInt, 0, kMostExtent},
                        kScale = {"scale", Attribute::kFloat};
constexpr AttributeRule kRotary[] = {flag("interleaved"), flag("is_packed_batching"), kHeads, kTurned,
                                     kScale};
constexpr AttributeRule kOfPictures[] = {flag("interleaved"),
                                         flag("is_packed_batching"),
                                         flag("mrope_layout"),
                                         required("mrope_section", Attribute::kInts, 0, kMostExtent),
                                         kHeads,
                                         kTurned,
                                         kScale};

constexpr AttributeRule kDistances[] = {flag("is_bidirectional"),
                                        required("max_distance", Attribute::kInt, 1, kMostExtent)};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::MRotaryEmbedding", rotary_of_pictures, 4, 4, kOfPictures},
    {"com.microsoft::RelativePositionBias", relative_position_bias, 3, 3, kDistances},
    {"com.microsoft::RotaryEmbedding", rotary_embedding, 4, 4, kRotary},
};

}  // namespace

extern constinit const ConverterTable contrib_positions_info = {kRows};

}  // namespace tilewright::frontend::onnx
