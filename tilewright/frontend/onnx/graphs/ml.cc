#include "tilewright/frontend/onnx/graphs/ml.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

template <class T, class U>
Expr constant(const std::vector<U>& values, const std::vector<int64_t>& shape, DataType dtype) {
  std::vector<T> data;
  for (const U& value : values) data.push_back(static_cast<T>(value));
  return relax::make_constant(runtime::Tensor::copy_of(data.data(), data.size() * sizeof(T), shape, dtype));
}

template <class U>
Expr constant_as(const std::vector<U>& values, const std::vector<int64_t>& shape, DataType dtype) {
  if (dtype == kFloat32) return constant<float>(values, shape, dtype);
  if (dtype == kFloat64) return constant<double>(values, shape, dtype);
  if (dtype == kInt32) return constant<int32_t>(values, shape, dtype);
  if (dtype == kInt64) return constant<int64_t>(values, shape, dtype);
  if (dtype == DataType::int_(16)) return constant<int16_t>(values, shape, dtype);
  if (dtype == DataType::int_(8)) return constant<int8_t>(values, shape, dtype);
  throw InternalError("constant of {}", dtype.str());
}

template <class T>
std::vector<double> as_doubles(const runtime::Tensor& data) {
  const T* first = data.data_as<T>();
  return std::vector<double>(first, first + data.num_elements());
}

}  // namespace

Expr constant_of(const std::vector<double>& values, const std::vector<int64_t>& shape, DataType dtype) {
  return constant_as(values, shape, dtype);
}
Expr constant_of(const std::vector<int64_t>& values, const std::vector<int64_t>& shape, DataType dtype) {
  return constant_as(values, shape, dtype);
}

std::vector<double> floats_attr(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute ? attribute->numbers : std::vector<double>{};
}

void require_number(DataType dtype, std::string_view what) {
  if (dtype != kFloat32 && dtype != kFloat64 && dtype != kInt32 && dtype != kInt64)
    throw Unsupported("{} has dtype {}, supported are float32, float64, int32 and int64", what, dtype.str());
}

std::vector<double> doubles_of(const runtime::Tensor& data, std::string_view what) {
  const runtime::Tensor own = data.compact();
  if (own.dtype() == kFloat32) return as_doubles<float>(own);
  if (own.dtype() == kFloat64) return as_doubles<double>(own);
  if (own.dtype() == DataType::uint(8)) return as_doubles<uint8_t>(own);
  if (own.dtype() == kInt32) return as_doubles<int32_t>(own);
  if (own.dtype() == kInt64) return as_doubles<int64_t>(own);
  if (own.dtype() == DataType::int_(16)) return as_doubles<int16_t>(own);
  if (own.dtype() == DataType::int_(8)) return as_doubles<int8_t>(own);
  throw Unsupported("{} has dtype {}", what, own.dtype().str());
}

std::vector<double> floats_or_tensor_attr(const Node& node, std::string_view name) {
  const std::string as_tensor = fmt::format("{}_as_tensor", name);
  const Attribute* attribute = node.find(as_tensor);
  return attribute ? doubles_of(attribute->tensor, fmt::format("attribute \"{}\"", as_tensor))
                   : floats_attr(node, name);
}

Expr rows_of(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  if (const size_t ndim = shape_of(node, x).size(); ndim != 2)
    throw UserError("the input has {}, expected 2", count_text(ndim, "dimension"));
  const DataType dtype = relax::dtype_of(x);
  return bound_as(importer, x, dtype == kFloat64 || dtype == kInt64 ? kFloat64 : kFloat32);
}

namespace {

/// Formulas of scores.
struct Scores {
  Importer& importer;
  const Node& node;
  DataType dtype;

  Expr call(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) const {
    return importer.bind(node, op, std::move(args), std::move(attrs));
  }
  Expr over_classes(std::string_view op, const Expr& x) const {
    return call(op, {x}, {{"axis", attr(std::vector<int64_t>{1})}, {"keepdims", attr(true)}});
  }
  Expr value(double constant) const { return number(constant, dtype); }
};

// exp(x) / sum(exp(x)), where a score of 0 stays 0; 0.5 if all are.
Expr softmax_of_others(const Scores& f, const Expr& x) {
  constexpr double kZero = 1e-7;  // as onnxruntime
  const Expr most = f.over_classes("relax.max", x);
  const Expr is_other = f.call("relax.greater", {f.call("relax.abs", {x}), f.value(kZero)});
  const Expr large = f.call("relax.exp", {f.call("relax.subtract", {x, most})});
  const Expr small = f.call("relax.multiply", {x, f.call("relax.exp", {f.call("relax.negative", {most})})});
  const Expr terms = f.call("relax.where", {is_other, large, small});
  const Expr sum = f.over_classes("relax.sum", terms);
  const Expr is_empty = f.call("relax.equal", {sum, f.value(0)});
  return f.call("relax.where", {is_empty, f.value(0.5), f.call("relax.divide", {terms, sum})});
}

// sqrt(2) * inverse of erf(2 x - 1), by Winitzki's approximation, as onnxruntime and onnx compute it
Expr probit(const Scores& f, const Expr& x) {
  constexpr double kA = 0.147;
  const Expr y = f.call("relax.subtract", {f.call("relax.multiply", {x, f.value(2)}), f.value(1)});
  const Expr product = f.call(
      "relax.multiply", {f.call("relax.subtract", {f.value(1), y}), f.call("relax.add", {y, f.value(1)})});
  const Expr log = f.call("relax.log", {product});
  const Expr half = f.call(
      "relax.add", {f.call("relax.multiply", {log, f.value(0.5)}), f.value(2 / (std::numbers::pi * kA))});
  const Expr square = f.call("relax.subtract", {f.call("relax.multiply", {half, half}),
                                                f.call("relax.multiply", {log, f.value(1 / kA)})});
  const Expr root = f.call("relax.sqrt", {f.call("relax.subtract", {f.call("relax.sqrt", {square}), half})});
  const Expr is_below = f.call("relax.less", {y, f.value(0)});
  const Expr inverse = f.call("relax.where", {is_below, f.call("relax.negative", {root}), root});
  return f.call("relax.multiply", {inverse, f.value(std::numbers::sqrt2)});
}

std::string post_transform_of(const Node& node) {
  const std::string name = string_attr(node, "post_transform", "NONE");
  require_known_text("post_transform", name, {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
  return name;
}

}  // namespace

Expr transformed(Importer& importer, const Node& node, const Expr& scores) {
  const std::string name = post_transform_of(node);
  const Scores f{importer, node, relax::dtype_of(scores)};
  if (name == "SOFTMAX") return f.call("relax.nn.softmax", {scores}, {{"axis", attr(int64_t{1})}});
  if (name == "LOGISTIC") return f.call("relax.sigmoid", {scores});
  if (name == "SOFTMAX_ZERO") return softmax_of_others(f, scores);
  return name == "PROBIT" ? probit(f, scores) : scores;
}

Expr scores_of_second(Importer& importer, const Node& node, const Expr& score, bool is_probability) {
  const std::string name = post_transform_of(node);
  if (name == "PROBIT") throw Unsupported("post_transform is PROBIT, but only one of two classes has scores");
  const Scores f{importer, node, relax::dtype_of(score)};
  Expr first = f.call("relax.negative", {score}), second = score;
  if (name == "LOGISTIC")
    first = f.call("relax.sigmoid", {first}), second = f.call("relax.sigmoid", {second});
  else if (is_probability)
    first = f.call("relax.subtract", {f.value(1), score});
  return f.call("relax.concat", {relax::TupleNode::make(std::vector<Expr>{first, second})},
                {{"axis", attr(int64_t{1})}});
}

Places places_in(Importer& importer, const Node& node, const Expr& sorted, int64_t count, const Expr& x) {
  const Expr last = constant_of(std::vector<int64_t>{count - 1}, {}, kInt64);
  const Expr place =
      importer.bind(node, "relax.minimum", {importer.bind(node, "relax.searchsorted", {sorted, x}), last});
  const Expr found = importer.bind(node, "relax.take", {sorted, place}, {{"axis", attr(int64_t{0})}});
  return {place, importer.bind(node, "relax.equal", {found, x})};
}

int64_t num_labels(const Node& node, LabelNames names) {
  const size_t integers = ints_attr(node, names.integers, {}).size();
  const Attribute* texts = node.find(names.texts);
  const size_t count = std::max(integers, texts ? texts->texts.size() : 0);
  if (count < 2) throw UserError("{} of classes, expected at least 2", count_text(count, "label"));
  return static_cast<int64_t>(count);
}

void define_labels(Importer& importer, const Node& node, LabelNames names, const Expr& index) {
  const std::vector<int64_t> labels = node.makes_strings(0) ? string_ids_attr(importer, node, names.texts)
                                                            : ints_attr(node, names.integers, {});
  importer.emit(node, "relax.take",
                {constant_of(labels, {static_cast<int64_t>(labels.size())}, kInt64), index},
                {{"axis", attr(int64_t{0})}});
}

Expr best_class(Importer& importer, const Node& node, const Expr& scores) {
  return importer.bind(node, "relax.argmax", {scores},
                       {{"axis", attr(int64_t{1})}, {"keepdims", attr(false)}});
}

Expr is_above(Importer& importer, const Node& node, const Expr& score, double threshold) {
  const Expr above = importer.bind(node, "relax.greater", {score, number(threshold, relax::dtype_of(score))});
  return importer.reshaped(node, importer.bound(converted(above, kInt64)), {shape_of(node, score)[0]});
}

}  // namespace tilewright::frontend::onnx
