// Random numbers.  With a seed the values are the same in each call, and on each machine; without one each call has
// others.  Source: onnx.ai/onnx/operators, opset 7 to 22; values are those of te/topi/random.h, as the standard leaves
// them open.
#include <bit>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/random.h"

namespace tilewright::frontend::onnx {
namespace {

using Tensors = std::vector<te::Tensor>;
constexpr DataType kWord = DataType::uint(32);

Expr constant_key(uint64_t seed) {
  const uint32_t words[] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return relax::make_constant(runtime::Tensor::copy_of(words, sizeof words, runtime::Shape{2}, kWord));
}

// The key of the generator: made of the seed, or another one in each call.
Expr key_of(Importer& importer, const Node& node) {
  if (const Attribute* seed = node.find("seed"))
    return constant_key(seed->kind == Attribute::kInt
                            ? static_cast<uint64_t>(seed->integer)
                            : std::bit_cast<uint32_t>(static_cast<float>(seed->number)));
  // the name keeps the calls of two nodes apart
  const Expr op = ir::OpNode::make("relax.call_pure_packed");
  std::vector<Expr> args{relax::ExternFuncNode::make("tilewright.random_key"),
                         relax::StringValueNode::make(node.outputs.at(0))};
  std::vector<ir::Type> types{relax::tensor_type({relax::extent_imm(2)}, kWord)};
  return importer.builder.emit(relax::CallNode::make(op, std::move(args), ir::AttrMap{}, std::move(types)));
}

DataType wanted_dtype(const Node& node, DataType otherwise) {
  const Attribute* attribute = node.find("dtype");
  return attribute ? dtype_of(attribute->integer, "attribute \"dtype\"") : otherwise;
}

DataType wanted_float(const Node& node, DataType otherwise) {
  const DataType dtype = wanted_dtype(node, otherwise);
  if (!dtype.is_float() || dtype.bits < 16)
    throw UserError("the result would be {}, expected floats of at least 16 bits", dtype.str())
        .help("give attribute \"dtype\", e.g. onnx.TensorProto.FLOAT");
  return dtype;
}

using Distribution = te::Tensor (*)(const te::Shape&, const te::Tensor&, double, double, DataType);
struct Numbers {
  relax::Shape shape;
  DataType dtype;
};
void emit_numbers(Importer& importer, const Node& node, const Numbers& wanted, bool is_normal) {
  const double first = is_normal ? float_attr(node, "mean", 0) : float_attr(node, "low", 0),
               second = is_normal ? float_attr(node, "scale", 1) : float_attr(node, "high", 1);
  const Distribution distribution = is_normal ? topi::random_normal : topi::random_uniform;
  const relax::TeFunction compute = [&](const Tensors& args) -> Tensors {
    return {distribution(wanted.shape, args[0], first, second, wanted.dtype)};
  };
  importer.define(node.outputs.at(0), importer.builder.emit_te(is_normal ? "random_normal" : "random_uniform",
                                                               compute, {key_of(importer, node)}));
}

template <bool kIsNormal>
void numbers(Importer& importer, const Node& node) {
  emit_numbers(importer, node, {relax::extents(ints_attr(node, "shape", {})), wanted_float(node, kFloat32)},
               kIsNormal);
}

template <bool kIsNormal>
void numbers_like(Importer& importer, const Node& node) {
  const Expr like = importer.value(node, 0);
  emit_numbers(importer, node, {shape_of(node, like), wanted_float(node, relax::dtype_of(like))}, kIsNormal);
}

void bernoulli(Importer& importer, const Node& node) {
  const Expr chance = importer.value(node, 0);
  const DataType dtype = wanted_dtype(node, relax::dtype_of(chance));
  const relax::TeFunction compute = [&](const Tensors& args) -> Tensors {
    return {topi::bernoulli(args[0], args[1], dtype)};
  };
  importer.define(node.outputs.at(0),
                  importer.builder.emit_te("bernoulli", compute, {chance, key_of(importer, node)}));
}

void multinomial(Importer& importer, const Node& node) {
  const Expr weights = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, weights);
  if (shape.size() != 2)
    throw UserError("the input has {}, expected 2", count_text(shape.size(), "dimension"));
  importer.require(node, tir::operator>=(relax::as_extent(shape[1]), int64_t{1}),
                   "the input is {}, without a class to draw", shape);
  const DataType dtype = wanted_dtype(node, kInt32);
  const int64_t count = int_attr(node, "sample_size", 1);
  const relax::TeFunction compute = [&](const Tensors& args) -> Tensors {
    return {topi::draw_classes(args[0], args[1], count, dtype)};
  };
  importer.define(node.outputs.at(0),
                  importer.builder.emit_te("draw_classes", compute, {weights, key_of(importer, node)}));
}

// ---- dropout

bool is_false(const Expr& value) {
  const auto* constant = value.as<relax::ConstantNode>();
  return constant && constant->data.dtype() == kBoolType && constant->data.num_elements() == 1 &&
         !*constant->data.compact().data_as<int8_t>();
}

Expr scalar_of(Importer& importer, const Node& node, size_t input) {
  const Expr value = importer.value(node, input);
  const relax::Shape& shape = shape_of(node, value);
  importer.require(node, tir::equal(relax::num_elements(shape), relax::extent_imm(1)),
                   "input {} is {}, expected 1 element", static_cast<int64_t>(input), shape);
  return importer.reshaped(node, value, {});
}

// Passes its input on unless training_mode says otherwise.
void dropout(Importer& importer, const Node& node) {
  const bool has_mask = node.outputs.size() > 1 && !node.outputs[1].empty();
  if (!importer.has_input(node, 2) || is_false(importer.value(node, 2))) {
    importer.pass_on(node);
    if (!has_mask) return;
    const Expr x = importer.value(node, 0);
    const DataType dtype = importer.opset >= 10 ? kBoolType : relax::dtype_of(x);
    const Expr all =
        importer.bind(node, "relax.full", {relax::shape_expr(shape_of(node, x)), number(1, dtype)});
    return importer.define(node.outputs[1], all);
  }
  const Expr ratio = importer.has_input(node, 1) ? scalar_of(importer, node, 1) : number(0.5, kFloat32);
  const relax::TeFunction compute = [](const Tensors& args) {
    return topi::dropout(args[0], args[1], args[2], args[3]);
  };
  importer.define_fields(node,
                         importer.builder.emit_te(
                             "dropout", compute,
                             {importer.value(node, 0), importer.builder.emit(ratio),
                              importer.builder.emit(scalar_of(importer, node, 2)), key_of(importer, node)}));
}

constexpr AttributeRule kDtype = {"dtype", Attribute::kInt}, kSeed = {"seed", Attribute::kFloat};
constexpr AttributeRule kShape = {"shape", Attribute::kInts, 0, kMostExtent, kFirstOpset, kLastOpset, true};
constexpr AttributeRule kBernoulli[] = {kDtype, kSeed};
constexpr AttributeRule kMultinomial[] = {kDtype, {"sample_size", Attribute::kInt, 1, kMostExtent}, kSeed};
constexpr AttributeRule kNormal[] = {
    kDtype, {"mean", Attribute::kFloat}, {"scale", Attribute::kFloat}, kSeed, kShape};
constexpr AttributeRule kNormalLike[] = {
    kDtype, {"mean", Attribute::kFloat}, {"scale", Attribute::kFloat}, kSeed};
constexpr AttributeRule kUniform[] = {
    kDtype, {"high", Attribute::kFloat}, {"low", Attribute::kFloat}, kSeed, kShape};
constexpr AttributeRule kUniformLike[] = {
    kDtype, {"high", Attribute::kFloat}, {"low", Attribute::kFloat}, kSeed};

constexpr AttributeRule kRatio[] = {{"ratio", Attribute::kFloat, 0, 1}};
constexpr AttributeRule kDropout[] = {{"seed", Attribute::kInt}};

constexpr ConverterRow kRows[] = {
    {"Bernoulli", bernoulli, 1, 1, kBernoulli, 1, 15},
    {"Dropout", dropout, 1, 1, kRatio, 2, kFirstOpset, 11, 2},
    {"Dropout", dropout, 1, 3, kDropout, 2, 12, kLastOpset, 2},
    {"Multinomial", multinomial, 1, 1, kMultinomial},
    {"RandomNormal", numbers<true>, 0, 0, kNormal},
    {"RandomNormalLike", numbers_like<true>, 1, 1, kNormalLike},
    {"RandomUniform", numbers<false>, 0, 0, kUniform},
    {"RandomUniformLike", numbers_like<false>, 1, 1, kUniformLike},
};

}  // namespace

extern constinit const ConverterTable random_info = {kRows};

}  // namespace tilewright::frontend::onnx
