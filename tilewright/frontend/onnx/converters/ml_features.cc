// Rows of features: scaling, replacing, choosing, encoding.  Source: onnx.ai/onnx/operators, ai.onnx.ml 1 to 4.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/ml.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

// Raises Unsupported for dtypes that ai.onnx.ml does not compute with.
void require_number(DataType dtype, std::string_view what) {
  if (dtype != kFloat32 && dtype != kFloat64 && dtype != kInt32 && dtype != kInt64)
    throw Unsupported("{} has dtype {}, supported are float32, float64, int32 and int64", what, dtype.str());
}

// x in a dtype in which its numbers are scaled: float64 if it is, else float32.
Expr as_float(Importer& importer, const Expr& x) {
  return bound_as(importer, x, relax::dtype_of(x) == kFloat64 ? kFloat64 : kFloat32);
}

// Attribute `name`, one number for all columns of `x` or one for each; null if it is left out.
Expr for_columns(Importer& importer, const Node& node, std::string_view name, const Expr& x,
                 const std::vector<double>& numbers) {
  if (numbers.empty()) return nullptr;
  const relax::Shape& shape = shape_of(node, x);
  const auto count = static_cast<int64_t>(numbers.size());
  if (count > 1 && !shape.empty())
    importer.require(node, tir::equal(relax::extent_imm(count), shape.back()),
                     "attribute \"{}\" has {} values for {} columns", std::string(name),
                     relax::extent_imm(count), shape.back());
  return constant_of(numbers, {count}, relax::dtype_of(x));
}

// (x - offset) * scale
void scaler(Importer& importer, const Node& node) {
  Expr x = as_float(importer, importer.value(node, 0));
  if (const Expr offset = for_columns(importer, node, "offset", x, floats_attr(node, "offset")))
    x = importer.bind(node, "relax.subtract", {x, offset});
  if (const Expr scale = for_columns(importer, node, "scale", x, floats_attr(node, "scale")))
    x = importer.bind(node, "relax.multiply", {x, scale});
  importer.define(node.outputs.at(0), bound_as(importer, x, kFloat32));
}

// Rows divided by a norm; rows whose norm is 0 stay.
void normalizer(Importer& importer, const Node& node) {
  const std::string norm = string_attr(node, "norm", "MAX");
  require_known_text("norm", norm, {"MAX", "L1", "L2"});
  const Expr x = as_float(importer, importer.value(node, 0));
  const DataType dtype = relax::dtype_of(x);
  const auto over_row = [&](std::string_view op, const Expr& terms) {
    return importer.bind(node, op, {terms},
                         {{"axis", attr(std::vector<int64_t>{-1})}, {"keepdims", attr(true)}});
  };
  Expr divisor;
  if (norm == "L2")
    divisor = importer.bind(node, "relax.sqrt",
                            {over_row("relax.sum", importer.bind(node, "relax.multiply", {x, x}))});
  else
    divisor = over_row(norm == "L1" ? "relax.sum" : "relax.max", importer.bind(node, "relax.abs", {x}));
  const Expr is_zero = importer.bind(node, "relax.equal", {divisor, number(0, dtype)});
  divisor = importer.bind(node, "relax.where", {is_zero, number(1, dtype), divisor});
  importer.define(node.outputs.at(0),
                  bound_as(importer, importer.bind(node, "relax.divide", {x, divisor}), kFloat32));
}

// Replaces numbers that equal one, or NaN.
void imputer(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const DataType dtype = relax::dtype_of(x);
  require_number(dtype, "the input");
  const bool is_float = dtype.is_float();
  const std::string_view name = is_float ? "imputed_value_floats" : "imputed_value_int64s";
  std::vector<double> values = floats_attr(node, name);
  if (!is_float) {
    const std::vector<int64_t> integers = ints_attr(node, name, {});
    values.assign(integers.begin(), integers.end());
  }
  if (values.empty()) throw UserError("attribute \"{}\" is missing for an input of {}", name, dtype.str());
  const Expr columns = for_columns(importer, node, name, x, values);
  const double replaced = is_float ? float_attr(node, "replaced_value_float", 0)
                                   : static_cast<double>(int_attr(node, "replaced_value_int64", 0));
  const Expr is_replaced = std::isnan(replaced)
                               ? importer.bind(node, "relax.isnan", {x})
                               : importer.bind(node, "relax.equal", {x, number(replaced, dtype)});
  importer.emit(node, "relax.where", {is_replaced, columns, x});
}

// Integers are compared as floats: a threshold need not be one of them.
void binarizer(Importer& importer, const Node& node) {
  const Expr given = importer.value(node, 0), x = as_float(importer, given);
  const Expr above =
      importer.bind(node, "relax.greater", {x, number(float_attr(node, "threshold", 0), relax::dtype_of(x))});
  importer.define(node.outputs.at(0), importer.bound(converted(above, relax::dtype_of(given))));
}

// Columns of x; a vector is a row.
void feature_extractor(Importer& importer, const Node& node) {
  Expr x = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, x);
  if (shape.empty()) throw UserError("the input has 0 dimensions, expected at least 1");
  if (shape.size() == 1) x = importer.reshaped(node, x, {relax::extent_imm(1), shape[0]});
  const Expr places = importer.bind(
      node, "relax.require_range",
      {importer.value(node, 1), scalar_value(relax::extent_imm(0)),
       scalar_value(importer.facts.simplify(tir::operator-(relax::as_extent(shape.back()), int64_t{1}))),
       relax::StringValueNode::make(fmt::format("{}: {}", node.shown(), node.inputs[1]))});
  const Expr list = importer.reshaped(node, places, {relax::num_elements(shape_of(node, places))});
  importer.emit(node, "relax.take", {x, list}, {{"axis", attr(int64_t{-1})}, {"mode", attr("clip")}});
}

// The inputs beside each other, each cut to the columns that inputdimensions says, or filled with 0.
void feature_vectorizer(Importer& importer, const Node& node) {
  const std::vector<int64_t> widths = ints_attr(node, "inputdimensions", {});
  if (widths.size() != node.inputs.size())
    throw UserError("attribute \"inputdimensions\" has {} numbers for {}", widths.size(),
                    count_text(node.inputs.size(), "input"));
  std::vector<Expr> parts;
  for (size_t n = 0; n < widths.size(); ++n) {
    Expr x = bound_as(importer, importer.value(node, n), kFloat32);
    relax::Shape shape = shape_of(node, x);
    if (shape.size() == 1) {
      shape = {relax::extent_imm(1), shape[0]};
      x = importer.reshaped(node, x, shape);
    }
    if (shape.size() != 2)
      throw UserError("input {} has {}, expected 1 or 2", n, count_text(shape.size(), "dimension"));
    int64_t columns = 0;
    if (!tir::as_const_int(shape[1], &columns))
      throw Unsupported("the number of columns of input {} is known only at run time", n);
    if (columns > widths[n])
      x = importer.bind(
          node, "relax.strided_slice",
          {x, relax::shape_expr({relax::extent_imm(1)}), relax::shape_expr({relax::extent_imm(0)}),
           relax::shape_expr({relax::extent_imm(widths[n])})});
    if (columns < widths[n])
      x = importer.bind(node, "relax.nn.pad", {x},
                        {{"pad_width", attr(std::vector<int64_t>{0, 0, 0, widths[n] - columns})}});
    parts.push_back(x);
  }
  importer.emit(node, "relax.concat", {relax::TupleNode::make(parts)}, {{"axis", attr(int64_t{1})}});
}

// A new dimension with 1 at the category of each number, or 0 everywhere.
void one_hot_encoder(Importer& importer, const Node& node) {
  const std::vector<int64_t> categories = ints_attr(node, "cats_int64s", {});
  if (categories.empty()) throw Unsupported("its categories are strings, supported are integers");
  if (!int_attr(node, "zeros", 1))
    throw Unsupported("zeros is 0, which asks for an error at numbers that are no category");
  const Expr x = importer.bound(converted(importer.value(node, 0), kInt64));
  const Expr column =
      importer.bind(node, "relax.expand_dims", {x}, {{"axis", attr(std::vector<int64_t>{-1})}});
  const Expr places = constant_of(categories, {static_cast<int64_t>(categories.size())}, kInt64);
  const Expr is_there = importer.bind(node, "relax.equal", {column, places});
  importer.define(node.outputs.at(0), importer.bound(converted(is_there, kFloat32)));
}

// ---- LabelEncoder

/// Numbers of one dtype that an attribute holds.
struct Numbers {
  std::vector<double> reals;
  std::vector<int64_t> integers;
  DataType dtype = kInt64;

  bool is_real() const { return dtype.is_float(); }
  size_t size() const { return is_real() ? reals.size() : integers.size(); }
  bool is_nan(size_t n) const { return is_real() && std::isnan(reals[n]); }
  bool is_less(size_t a, size_t b) const {
    return is_real() ? reals[a] < reals[b] : integers[a] < integers[b];
  }
  Expr constant(const std::vector<size_t>& order) const {
    const std::vector<int64_t> shape{static_cast<int64_t>(order.size())};
    std::vector<double> chosen_reals;
    std::vector<int64_t> chosen;
    for (size_t n : order) is_real() ? chosen_reals.push_back(reals[n]) : chosen.push_back(integers[n]);
    return is_real() ? constant_of(chosen_reals, shape, dtype) : constant_of(chosen, shape, dtype);
  }
};

// Attributes `what`_int64s, _floats, _tensor; raises Unsupported for strings.
Numbers numbers_of(const Node& node, const std::string& what) {
  Numbers result;
  if (node.find(what + "_strings")) throw Unsupported("{}_strings are strings, supported are numbers", what);
  if (const Attribute* tensor = node.find(what + "_tensor")) {
    const std::string shown = fmt::format("attribute \"{}_tensor\"", what);
    result.dtype = tensor->tensor.dtype();
    require_number(result.dtype, shown);
    const runtime::Tensor data = tensor->tensor.compact();
    if (result.dtype == kInt64)  // doubles do not hold all of these
      result.integers.assign(data.data_as<int64_t>(), data.data_as<int64_t>() + data.num_elements());
    else
      result.reals = doubles_of(data, shown);
    if (result.dtype == kInt32) result.integers.assign(result.reals.begin(), result.reals.end());
    return result;
  }
  result.integers = ints_attr(node, what + "_int64s", {});
  if (!result.integers.empty()) return result;
  result.reals = floats_attr(node, what + "_floats");
  result.dtype = kFloat32;
  return result;
}

Expr default_of(const Node& node, const Numbers& values) {
  const Attribute* given = node.find("default_tensor");
  if (given && node.find("values_tensor")) {
    if (given->tensor.num_elements() != 1 || given->tensor.dtype() != values.dtype)
      throw UserError("attribute \"default_tensor\" has {} of {}, expected one {}",
                      count_text(static_cast<size_t>(given->tensor.num_elements()), "element"),
                      given->tensor.dtype().str(), values.dtype.str());
    return relax::make_constant(given->tensor.compact().reshape(runtime::Shape{}));
  }
  if (values.is_real()) return number(float_attr(node, "default_float", -0.0), values.dtype);
  const std::vector<int64_t> one{int_attr(node, "default_int64", -1)};
  return constant_of(one, {}, values.dtype);
}

// The value of each key, found by bisection in the sorted keys.
void label_encoder(Importer& importer, const Node& node) {
  const Numbers keys = numbers_of(node, "keys"), values = numbers_of(node, "values");
  if (keys.size() != values.size() || keys.size() == 0)
    throw UserError("{} and {}, expected as many, and one at least", count_text(keys.size(), "key"),
                    count_text(values.size(), "value"));
  Expr x = importer.value(node, 0);
  if (relax::dtype_of(x) != keys.dtype)
    throw UserError("the input is {}, but its keys are {}", relax::dtype_of(x).str(), keys.dtype.str());
  std::vector<size_t> order;  // of keys by size, the last of equal ones
  std::optional<size_t> at_nan;
  for (size_t n = 0; n < keys.size(); ++n) {
    if (keys.is_nan(n))
      at_nan = n;
    else
      order.push_back(n);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return keys.is_less(a, b) || (!keys.is_less(b, a) && a > b); });
  const auto is_equal = [&](size_t a, size_t b) { return !keys.is_less(a, b); };
  order.erase(std::unique(order.begin(), order.end(), is_equal), order.end());
  const auto call = [&](std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) {
    return importer.bind(node, op, std::move(args), std::move(attrs));
  };
  const Expr otherwise = default_of(node, values);
  Expr result = otherwise;
  if (!order.empty()) {
    const Expr sorted = keys.constant(order);
    const Expr last = number(static_cast<double>(order.size() - 1), kInt64);
    const Expr found = call("relax.minimum", {call("relax.searchsorted", {sorted, x}), last});
    const Expr key = call("relax.take", {sorted, found}, {{"axis", attr(int64_t{0})}});
    const Expr value = call("relax.take", {values.constant(order), found}, {{"axis", attr(int64_t{0})}});
    result = call("relax.where", {call("relax.equal", {key, x}), value, otherwise});
  }
  if (at_nan) {
    const Expr value = importer.reshaped(node, values.constant({*at_nan}), {});
    result = call("relax.where", {call("relax.isnan", {x}), value, result});
  }
  if (result.get() == otherwise.get())
    result = call("relax.broadcast_to", {otherwise, relax::shape_expr(shape_of(node, x))});
  importer.define(node.outputs.at(0), result);
}

// ---- no tensors

void refuse_map(Importer&, const Node&) {
  throw Unsupported("it reads or makes maps, which are no tensors")
      .help("take the tensor that it is made of as output, with skl2onnx: options={{\"zipmap\": False}}");
}
void refuse_texts(Importer&, const Node&) {
  throw Unsupported("it maps strings, supported are numbers").help("encode them before the model is called");
}

constexpr AttributeRule kScaler[] = {{"offset", Attribute::kFloats}, {"scale", Attribute::kFloats}};
constexpr AttributeRule kNormalizer[] = {{"norm", Attribute::kString}};
constexpr AttributeRule kImputer[] = {{"imputed_value_floats", Attribute::kFloats},
                                      {"imputed_value_int64s", Attribute::kInts},
                                      {"replaced_value_float", Attribute::kFloat},
                                      {"replaced_value_int64", Attribute::kInt}};
constexpr AttributeRule kBinarizer[] = {{"threshold", Attribute::kFloat}};
constexpr AttributeRule kVectorizer[] = {{"inputdimensions", Attribute::kInts, 0, kMostExtent}};
constexpr AttributeRule kOneHot[] = {
    {"cats_int64s", Attribute::kInts}, {"cats_strings", Attribute::kStrings}, flag("zeros")};
constexpr AttributeRule kLabelEncoder[] = {
    {"default_float", Attribute::kFloat},    {"default_int64", Attribute::kInt},
    {"default_string", Attribute::kString},  {"default_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4},
    {"keys_floats", Attribute::kFloats},     {"keys_int64s", Attribute::kInts},
    {"keys_strings", Attribute::kStrings},   {"keys_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4},
    {"values_floats", Attribute::kFloats},   {"values_int64s", Attribute::kInts},
    {"values_strings", Attribute::kStrings}, {"values_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4}};
constexpr AttributeRule kLabelEncoderOfTexts[] = {{"classes_strings", Attribute::kStrings},
                                                  {"default_int64", Attribute::kInt},
                                                  {"default_string", Attribute::kString}};
constexpr AttributeRule kCategoryMapper[] = {{"cats_int64s", Attribute::kInts},
                                             {"cats_strings", Attribute::kStrings},
                                             {"default_int64", Attribute::kInt},
                                             {"default_string", Attribute::kString}};
constexpr AttributeRule kCastMap[] = {
    {"cast_to", Attribute::kString}, {"map_form", Attribute::kString}, {"max_map", Attribute::kInt}};
constexpr AttributeRule kDictVectorizer[] = {{"int64_vocabulary", Attribute::kInts},
                                             {"string_vocabulary", Attribute::kStrings}};
constexpr AttributeRule kZipMap[] = {{"classlabels_int64s", Attribute::kInts},
                                     {"classlabels_strings", Attribute::kStrings}};

constexpr ConverterRow kRows[] = {
    {"ai.onnx.ml::ArrayFeatureExtractor", feature_extractor, 2, 2},
    {"ai.onnx.ml::Binarizer", binarizer, 1, 1, kBinarizer},
    {"ai.onnx.ml::CastMap", refuse_map, 1, 1, kCastMap},
    {"ai.onnx.ml::CategoryMapper", refuse_texts, 1, 1, kCategoryMapper},
    {"ai.onnx.ml::DictVectorizer", refuse_map, 1, 1, kDictVectorizer},
    {"ai.onnx.ml::FeatureVectorizer", feature_vectorizer, 1, kAnyNumber, kVectorizer},
    {"ai.onnx.ml::Imputer", imputer, 1, 1, kImputer},
    {"ai.onnx.ml::LabelEncoder", label_encoder, 1, 1, kLabelEncoder, 1, 2},
    {"ai.onnx.ml::LabelEncoder", refuse_texts, 1, 1, kLabelEncoderOfTexts, 1, 1, 1},
    {"ai.onnx.ml::Normalizer", normalizer, 1, 1, kNormalizer},
    {"ai.onnx.ml::OneHotEncoder", one_hot_encoder, 1, 1, kOneHot},
    {"ai.onnx.ml::Scaler", scaler, 1, 1, kScaler},
    {"ai.onnx.ml::ZipMap", refuse_map, 1, 1, kZipMap},
};

}  // namespace

extern constinit const ConverterTable ml_features_info = {kRows};

}  // namespace tilewright::frontend::onnx
