// Linear models and support vectors.  Source: onnx.ai/onnx/operators, ai.onnx.ml 1; where the text leaves a choice (two
// classes with one score), onnxruntime's.
#include <algorithm>

#include "tilewright/frontend/onnx/graphs/ml.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr LabelNames kLabels = {"classlabels_ints", "classlabels_strings"};

/// Numbers in rows.
struct Matrix {
  std::vector<double> numbers;
  int64_t rows, columns;

  Expr transposed(DataType dtype) const {
    std::vector<double> moved;
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t row = 0; row < rows; ++row) moved.push_back(at(row, column));
    }
    return constant_of(moved, {columns, rows}, dtype);
  }
  double at(int64_t row, int64_t column) const {
    return numbers[static_cast<size_t>(row * columns + column)];
  }
};

// Attribute `name` in `rows` rows.
Matrix matrix_attr(const Node& node, std::string_view name, int64_t rows) {
  Matrix result{floats_attr(node, name), rows, 0};
  const auto count = static_cast<int64_t>(result.numbers.size());
  if (rows < 1 || count == 0 || count % rows != 0)
    throw UserError("attribute \"{}\" has {} values for {} rows", name, count, rows);
  result.columns = count / rows;
  return result;
}

// x [n, columns] times the transpose of `weights`.
Expr product(Importer& importer, const Node& node, const Expr& x, const Matrix& weights) {
  const ir::PrimExpr given = shape_of(node, x)[1], expected = relax::extent_imm(weights.columns);
  importer.require(node, tir::equal(given, expected), "the input has {} columns, the model {}", given,
                   expected);
  return importer.bind(node, "relax.matmul", {x, weights.transposed(relax::dtype_of(x))});
}

// Adds attribute `name`, with `count` values, if it is given.
Expr with_numbers(Importer& importer, const Node& node, const Expr& x, std::string_view name, int64_t count) {
  const std::vector<double> numbers = floats_attr(node, name);
  if (numbers.empty()) return x;
  if (static_cast<int64_t>(numbers.size()) != count)
    throw UserError("attribute \"{}\" has {} values, expected {}", name, numbers.size(), count);
  return importer.bind(node, "relax.add", {x, constant_of(numbers, {count}, relax::dtype_of(x))});
}

void define_scores(Importer& importer, const Node& node, const Expr& scores) {
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    importer.define(node.outputs[1], bound_as(importer, scores, kFloat32));
}

void linear_regressor(Importer& importer, const Node& node) {
  const int64_t targets = int_attr(node, "targets", 1);
  const Expr sums =
      product(importer, node, rows_of(importer, node), matrix_attr(node, "coefficients", targets));
  const Expr all = with_numbers(importer, node, sums, "intercepts", targets);
  importer.define(node.outputs.at(0), bound_as(importer, transformed(importer, node, all), kFloat32));
}

// One row of coefficients for each class, or one in all for two classes: for the second of them.
void linear_classifier(Importer& importer, const Node& node) {
  const Expr x = rows_of(importer, node);
  int64_t rows = num_labels(node, kLabels), columns = 0;
  const auto count = static_cast<int64_t>(floats_attr(node, "coefficients").size());
  if (rows == 2 && tir::as_const_int(shape_of(node, x)[1], &columns) && columns == count) rows = 1;
  const Expr sums = product(importer, node, x, matrix_attr(node, "coefficients", rows));
  const Expr all = with_numbers(importer, node, sums, "intercepts", rows);
  define_labels(importer, node, kLabels,
                rows == 1 ? is_above(importer, node, all, 0) : best_class(importer, node, all));
  define_scores(importer, node,
                rows == 1 ? scores_of_second(importer, node, all, true) : transformed(importer, node, all));
}

// The kernel function of each row of x with each of the vectors: [n, vectors].
Expr kernel(Importer& importer, const Node& node, const Expr& x, const Matrix& vectors) {
  const DataType dtype = relax::dtype_of(x);
  const auto call = [&](std::string_view op, std::vector<Expr> args) {
    return importer.bind(node, op, std::move(args));
  };
  const std::string type = string_attr(node, "kernel_type", "LINEAR");
  require_known_text("kernel_type", type, {"LINEAR", "POLY", "RBF", "SIGMOID"});
  std::vector<double> params = floats_attr(node, "kernel_params");  // gamma, coef0, degree
  params.resize(3, 0);
  const Expr products = product(importer, node, x, vectors);
  if (type == "LINEAR") return products;
  const Expr gamma = number(params[0], dtype);
  if (type == "RBF") {  // |x - v|^2 = |x|^2 - 2 x v + |v|^2
    std::vector<double> squares;
    for (int64_t row = 0; row < vectors.rows; ++row) {
      squares.push_back(0);
      for (int64_t n = 0; n < vectors.columns; ++n) squares.back() += vectors.at(row, n) * vectors.at(row, n);
    }
    const Expr own = importer.bind(node, "relax.sum", {call("relax.multiply", {x, x})},
                                   {{"axis", attr(std::vector<int64_t>{1})}, {"keepdims", attr(true)}});
    const Expr both = call("relax.add", {own, constant_of(squares, {vectors.rows}, dtype)});
    const Expr distance =
        call("relax.subtract", {both, call("relax.multiply", {products, number(2, dtype)})});
    return call("relax.exp", {call("relax.negative", {call("relax.multiply", {distance, gamma})})});
  }
  const Expr sums = call("relax.add", {call("relax.multiply", {products, gamma}), number(params[1], dtype)});
  return type == "POLY" ? call("relax.power", {sums, number(params[2], dtype)}) : call("relax.tanh", {sums});
}

void svm_regressor(Importer& importer, const Node& node) {
  const Expr x = rows_of(importer, node);
  const int64_t count = int_attr(node, "n_supports", 0);
  const std::vector<double> rho = floats_attr(node, "rho");
  if (rho.size() != 1) throw UserError("attribute \"rho\" has {} values, expected 1", rho.size());
  const Matrix weights = matrix_attr(node, "coefficients", 1);
  const Expr terms = count > 0 ? kernel(importer, node, x, matrix_attr(node, "support_vectors", count)) : x;
  Expr sums = with_numbers(importer, node, product(importer, node, terms, weights), "rho", 1);
  if (int_attr(node, "one_class", 0)) {
    const DataType dtype = relax::dtype_of(sums);
    const Expr above = importer.bind(node, "relax.greater", {sums, number(0, dtype)});
    sums = importer.bind(node, "relax.where", {above, number(1, dtype), number(-1, dtype)});
  } else {
    sums = transformed(importer, node, sums);
  }
  importer.define(node.outputs.at(0), bound_as(importer, sums, kFloat32));
}

/// The pairs of classes that support vectors decide between.
struct Pairs {
  Matrix weights;        // a row for each pair: of the kernels of all vectors
  Matrix first, second;  // 1 at the class that gets the vote if the sum is above 0, and if it is not
};

Pairs pairs_of(const Node& node, int64_t num_classes, const std::vector<int64_t>& sizes,
               int64_t num_vectors) {
  const Matrix given = matrix_attr(node, "coefficients", num_classes - 1);
  if (given.columns != num_vectors || static_cast<int64_t>(sizes.size()) != num_classes)
    throw UserError(
        "attribute \"coefficients\" has {} columns and \"vectors_per_class\" {} numbers, expected {} and {}",
        given.columns, sizes.size(), num_vectors, num_classes);
  const int64_t count = num_classes * (num_classes - 1) / 2;
  constexpr double kMostNumbers = 1 << 26;
  if (static_cast<double>(count) * static_cast<double>(num_vectors + 2 * num_classes) > kMostNumbers)
    throw Unsupported("{} classes with {} support vectors: each pair of classes gets a row of weights",
                      num_classes, num_vectors);
  const auto zeros = [&](int64_t columns) {
    return Matrix{std::vector<double>(static_cast<size_t>(count * columns)), count, columns};
  };
  Pairs pairs{zeros(num_vectors), zeros(num_classes), zeros(num_classes)};
  std::vector<int64_t> begins{0};
  for (int64_t size : sizes) begins.push_back(begins.back() + size);
  int64_t pair = 0;
  const auto set = [&](Matrix& matrix, int64_t column, double value) {
    matrix.numbers[static_cast<size_t>(pair * matrix.columns + column)] = value;
  };
  for (int64_t a = 0; a < num_classes; ++a) {
    for (int64_t b = a + 1; b < num_classes; ++b, ++pair) {
      const auto copy = [&](int64_t of, int64_t row) {
        for (int64_t n = begins[static_cast<size_t>(of)]; n < begins[static_cast<size_t>(of) + 1]; ++n)
          set(pairs.weights, n, given.at(row, n));
      };
      copy(a, b - 1);
      copy(b, a);
      set(pairs.first, a, 1);
      set(pairs.second, b, 1);
    }
  }
  return pairs;
}

// The votes [n, classes] of pairs with the sums [n, pairs].
Expr votes_of(Importer& importer, const Node& node, const Expr& sums, const Pairs& pairs) {
  const DataType dtype = relax::dtype_of(sums);
  const Expr above = importer.bind(node, "relax.greater", {sums, number(0, dtype)});
  const Expr won = importer.bound(converted(above, dtype));
  const Expr lost = importer.bind(node, "relax.subtract", {number(1, dtype), won});
  const auto votes = [&](const Expr& cast, const Matrix& classes) {
    return importer.bind(node, "relax.matmul",
                         {cast, constant_of(classes.numbers, {classes.rows, classes.columns}, dtype)});
  };
  return importer.bind(node, "relax.add", {votes(won, pairs.first), votes(lost, pairs.second)});
}

void svm_classifier(Importer& importer, const Node& node) {
  const Expr x = rows_of(importer, node);
  const int64_t num_classes = num_labels(node, kLabels);
  if (node.find("prob_a") && !floats_attr(node, "prob_a").empty())
    throw Unsupported("attribute \"prob_a\" asks for probabilities, which are found by iteration")
        .help("export the model without probabilities, e.g. SVC(probability=False)");
  const std::vector<int64_t> sizes = ints_attr(node, "vectors_per_class", {});
  int64_t num_vectors = 0;
  for (int64_t size : sizes) num_vectors += size;
  if (num_vectors <= 0) {
    const std::vector<double> rho = floats_attr(node, "rho");
    if (rho.empty()) throw UserError("attribute \"rho\" has 0 values, expected 1");
    const Expr sums = product(importer, node, x, matrix_attr(node, "coefficients", num_classes));
    const Expr scores = importer.bind(node, "relax.add", {sums, number(rho[0], relax::dtype_of(sums))});
    define_labels(importer, node, kLabels, best_class(importer, node, scores));
    return define_scores(importer, node, transformed(importer, node, scores));
  }
  const Pairs pairs = pairs_of(node, num_classes, sizes, num_vectors);
  const Expr terms = kernel(importer, node, x, matrix_attr(node, "support_vectors", num_vectors));
  const Expr sums =
      with_numbers(importer, node, product(importer, node, terms, pairs.weights), "rho", pairs.weights.rows);
  define_labels(importer, node, kLabels, best_class(importer, node, votes_of(importer, node, sums, pairs)));
  define_scores(
      importer, node,
      num_classes == 2 ? scores_of_second(importer, node, sums, false) : transformed(importer, node, sums));
}

constexpr AttributeRule kLinearRegressor[] = {required("coefficients", Attribute::kFloats),
                                              {"intercepts", Attribute::kFloats},
                                              kPostTransform,
                                              {"targets", Attribute::kInt, 1, kMostExtent}};
constexpr AttributeRule kLinearClassifier[] = {{"classlabels_ints", Attribute::kInts},
                                               {"classlabels_strings", Attribute::kStrings},
                                               required("coefficients", Attribute::kFloats),
                                               {"intercepts", Attribute::kFloats},
                                               flag("multi_class"),
                                               kPostTransform};
constexpr AttributeRule kSvmRegressor[] = {required("coefficients", Attribute::kFloats),
                                           {"kernel_params", Attribute::kFloats},
                                           {"kernel_type", Attribute::kString},
                                           {"n_supports", Attribute::kInt, 0, kMostExtent},
                                           flag("one_class"),
                                           kPostTransform,
                                           {"rho", Attribute::kFloats},
                                           {"support_vectors", Attribute::kFloats}};
constexpr AttributeRule kSvmClassifier[] = {{"classlabels_ints", Attribute::kInts},
                                            {"classlabels_strings", Attribute::kStrings},
                                            required("coefficients", Attribute::kFloats),
                                            {"kernel_params", Attribute::kFloats},
                                            {"kernel_type", Attribute::kString},
                                            kPostTransform,
                                            {"prob_a", Attribute::kFloats},
                                            {"prob_b", Attribute::kFloats},
                                            {"rho", Attribute::kFloats},
                                            {"support_vectors", Attribute::kFloats},
                                            {"vectors_per_class", Attribute::kInts, 0, kMostExtent}};

constexpr ConverterRow kRows[] = {
    {"ai.onnx.ml::LinearClassifier", linear_classifier, 1, 1, kLinearClassifier, 2, kFirstOpset, kLastOpset,
     2},
    {"ai.onnx.ml::LinearRegressor", linear_regressor, 1, 1, kLinearRegressor},
    {"ai.onnx.ml::SVMClassifier", svm_classifier, 1, 1, kSvmClassifier, 2, kFirstOpset, kLastOpset, 2},
    {"ai.onnx.ml::SVMRegressor", svm_regressor, 1, 1, kSvmRegressor},
};

}  // namespace

extern constinit const ConverterTable ml_linear_info = {kRows};

}  // namespace tilewright::frontend::onnx
