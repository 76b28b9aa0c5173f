// Losses of classifiers.  Source: onnx.ai/onnx/operators, opset 12 to 22.
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

/// The losses of samples and the weights of their classes; null: all are 1.
struct Losses {
  Expr losses, weights;
};

// The classes of the samples, checked to be some; those to ignore become 0, and *ignored says where they are.
Expr classes_of(Importer& importer, const Node& node, const ir::PrimExpr& count, Expr* ignored) {
  const Expr target = importer.value(node, 1);
  Expr classes = target;
  if (node.find("ignore_index")) {
    const DataType dtype = relax::dtype_of(target);
    const Expr index =
        importer.builder.emit(number(static_cast<double>(int_attr(node, "ignore_index", 0)), dtype));
    *ignored = importer.bind(node, "relax.equal", {target, index});
    classes = importer.bind(node, "relax.where", {*ignored, importer.builder.emit(number(0, dtype)), target});
  }
  return importer.bind(node, "relax.require_range",
                       {classes, scalar_value(relax::extent_imm(0)),
                        scalar_value(tir::operator-(relax::as_extent(count), int64_t{1})),
                        relax::StringValueNode::make(fmt::format("{}: {}", node.shown(), node.inputs[1]))});
}

// `scores` [n, classes, ..] are logarithms of probabilities.
Losses losses_of(Importer& importer, const Node& node, const Expr& scores) {
  const relax::Shape shape = shape_of(node, scores), target = shape_of(node, importer.value(node, 1));
  if (shape.size() < 2)
    throw UserError("the input has {}, expected at least 2", count_text(shape.size(), "dimension"));
  relax::Shape samples = shape;
  samples.erase(samples.begin() + 1);
  importer.require(node, relax::is_same_shape(samples, target), "the input is {}, but its classes are {}",
                   shape, target);
  const DataType dtype = relax::dtype_of(scores);
  const auto zero = [&] { return importer.builder.emit(number(0, dtype)); };
  Expr ignored;
  const Expr classes = classes_of(importer, node, shape[1], &ignored);
  const std::vector<int64_t> axis{1};
  const Expr places = importer.bind(node, "relax.expand_dims", {classes}, {{"axis", attr(axis)}});
  const Expr picked = importer.bind(node, "relax.gather_elements", {scores, places}, {{"axis", attr(1)}});
  Losses all{importer.bind(node, "relax.negative",
                           {importer.bind(node, "relax.squeeze", {picked}, {{"axis", attr(axis)}})}),
             nullptr};
  if (const Expr weights = importer.value(node, 2)) {
    importer.require(node, relax::is_same_shape(shape_of(node, weights), {shape[1]}),
                     "the weights are {} for {} classes", shape_of(node, weights), shape[1]);
    all.weights = importer.bind(node, "relax.take", {bound_as(importer, weights, dtype), classes},
                                {{"axis", attr(0)}, {"mode", attr("clip")}});
    all.losses = importer.bind(node, "relax.multiply", {all.losses, all.weights});
  }
  if (ignored) {
    const Expr weights = all.weights ? all.weights : Expr(importer.builder.emit(number(1, dtype)));
    all.weights = importer.bind(node, "relax.where", {ignored, zero(), weights});
    all.losses = importer.bind(node, "relax.where", {ignored, zero(), all.losses});
  }
  return all;
}

void emit_loss(Importer& importer, const Node& node, const Expr& scores, DataType dtype) {
  const std::string reduction = string_attr(node, "reduction", "mean");
  require_known_text("reduction", reduction, {"mean", "none", "sum"});
  const Losses all = losses_of(importer, node, scores);
  Expr result = all.losses;
  if (reduction == "mean" && !all.weights)
    result = importer.bind(node, "relax.mean", {result});
  else if (reduction != "none")
    result = importer.bind(node, "relax.sum", {result});
  if (reduction == "mean" && all.weights)
    result = importer.bind(node, "relax.divide", {result, importer.bind(node, "relax.sum", {all.weights})});
  importer.define(node.outputs.at(0), bound_as(importer, result, dtype));
}

void negative_log_likelihood(Importer& importer, const Node& node) {
  const Expr scores = importer.value(node, 0);
  emit_loss(importer, node, widened(importer, scores), relax::dtype_of(scores));
}

void softmax_cross_entropy(Importer& importer, const Node& node) {
  const Expr scores = importer.value(node, 0);
  const DataType dtype = relax::dtype_of(scores);
  const Expr logs =
      importer.bind(node, "relax.nn.log_softmax", {widened(importer, scores)}, {{"axis", attr(1)}});
  emit_loss(importer, node, logs, dtype);
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    importer.define(node.outputs[1], bound_as(importer, logs, dtype));
}

constexpr AttributeRule kLoss[] = {{"ignore_index", Attribute::kInt}, {"reduction", Attribute::kString}};

constexpr ConverterRow kRows[] = {
    {"NegativeLogLikelihoodLoss", negative_log_likelihood, 2, 3, kLoss, 1, 12},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy, 2, 3, kLoss, 2, 12, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable losses_info = {kRows};

}  // namespace tilewright::frontend::onnx
