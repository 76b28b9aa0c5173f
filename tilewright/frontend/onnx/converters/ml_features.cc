// Rows of features: scaling, replacing, choosing, encoding.  Source: onnx.ai/onnx/operators, ai.onnx.ml 1 to 4.
#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/ml.h"
#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

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
  const std::vector<int64_t> categories = node.reads_strings(0)
                                              ? string_ids_attr(importer, node, "cats_strings")
                                              : ints_attr(node, "cats_int64s", {});
  if (categories.empty())
    throw UserError("the input holds {}, but its categories are {}",
                    node.reads_strings(0) ? "strings" : "numbers",
                    node.reads_strings(0) ? "numbers" : "strings");
  if (!int_attr(node, "zeros", 1))
    throw Unsupported("zeros is 0, which asks for an error at numbers that are no category");
  const Expr x = importer.bound(converted(importer.value(node, 0), kInt64));
  const Expr column =
      importer.bind(node, "relax.expand_dims", {x}, {{"axis", attr(std::vector<int64_t>{-1})}});
  const Expr places = constant_of(categories, {static_cast<int64_t>(categories.size())}, kInt64);
  const Expr is_there = importer.bind(node, "relax.equal", {column, places});
  importer.define(node.outputs.at(0), importer.bound(converted(is_there, kFloat32)));
}

// ---- no tensors

void refuse_map(Importer&, const Node&) {
  throw Unsupported("it reads or makes maps, which are no tensors")
      .help("take the tensor that it is made of as output, with skl2onnx: options={{\"zipmap\": False}}");
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
    {"ai.onnx.ml::DictVectorizer", refuse_map, 1, 1, kDictVectorizer},
    {"ai.onnx.ml::FeatureVectorizer", feature_vectorizer, 1, kAnyNumber, kVectorizer},
    {"ai.onnx.ml::Imputer", imputer, 1, 1, kImputer},
    {"ai.onnx.ml::Normalizer", normalizer, 1, 1, kNormalizer},
    {"ai.onnx.ml::OneHotEncoder", one_hot_encoder, 1, 1, kOneHot},
    {"ai.onnx.ml::Scaler", scaler, 1, 1, kScaler},
    {"ai.onnx.ml::ZipMap", refuse_map, 1, 1, kZipMap},
};

}  // namespace

extern constinit const ConverterTable ml_features_info = {kRows};

}  // namespace tilewright::frontend::onnx
