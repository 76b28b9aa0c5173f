// Operators that look values up in a table of keys.  A string is its id (import/strings.h), so that those of strings are
// the same.  Source: onnx.ai/onnx/operators, ai.onnx.ml 1 to 4.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tilewright/frontend/onnx/graphs/ml.h"
#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

/// Keys or values of one dtype.
struct Numbers {
  std::vector<double> reals;
  std::vector<int64_t> integers;
  DataType dtype = kInt64;
  bool are_strings = false;  // ids, which are integers

  bool is_real() const { return dtype.is_float(); }
  size_t size() const { return is_real() ? reals.size() : integers.size(); }
  bool is_nan(size_t n) const { return is_real() && std::isnan(reals[n]); }
  bool is_less(size_t a, size_t b) const {
    return is_real() ? reals[a] < reals[b] : integers[a] < integers[b];
  }
  std::string shown() const { return are_strings ? "strings" : dtype.str(); }
  Expr constant(const std::vector<size_t>& order) const {
    const std::vector<int64_t> shape{static_cast<int64_t>(order.size())};
    std::vector<double> chosen_reals;
    std::vector<int64_t> chosen;
    for (size_t n : order) is_real() ? chosen_reals.push_back(reals[n]) : chosen.push_back(integers[n]);
    return is_real() ? constant_of(chosen_reals, shape, dtype) : constant_of(chosen, shape, dtype);
  }
};

Numbers strings_in(const Importer& importer, const Node& node, std::string_view name) {
  return {{}, string_ids_attr(importer, node, name), kInt64, true};
}

// 0, 1, ...
Numbers counted(size_t count) {
  Numbers result;
  for (size_t n = 0; n < count; ++n) result.integers.push_back(static_cast<int64_t>(n));
  return result;
}

// Attributes `what`_int64s, _floats, _strings, _tensor.
Numbers numbers_of(const Importer& importer, const Node& node, const std::string& what) {
  if (node.find(what + "_strings")) return strings_in(importer, node, what + "_strings");
  Numbers result;
  if (const Attribute* tensor = node.find(what + "_tensor")) {
    if (tensor->has_text_tensor) return {{}, importer.strings->ids(tensor->texts), kInt64, true};
    const std::string shown = fmt::format("attribute \"{}_tensor\"", what);
    result.dtype = tensor->tensor.dtype();
    // values are only moved
    const bool is_short = result.dtype == DataType::int_(8) || result.dtype == DataType::int_(16);
    if (what == "keys" || !is_short) require_number(result.dtype, shown);
    const runtime::Tensor data = tensor->tensor.compact();
    if (result.dtype == kInt64)  // doubles do not hold all of these
      result.integers.assign(data.data_as<int64_t>(), data.data_as<int64_t>() + data.num_elements());
    else
      result.reals = doubles_of(data, shown);
    if (result.dtype != kInt64 && !result.is_real())
      result.integers.assign(result.reals.begin(), result.reals.end());
    return result;
  }
  result.integers = ints_attr(node, what + "_int64s", {});
  if (!result.integers.empty()) return result;
  result.reals = floats_attr(node, what + "_floats");
  result.dtype = kFloat32;
  return result;
}

Expr default_of(const Importer& importer, const Node& node, const Numbers& values) {
  const Attribute* given = node.find("default_tensor");
  if (given && node.find("values_tensor")) {
    if (given->tensor.num_elements() != 1 || given->tensor.dtype() != values.dtype)
      throw UserError("attribute \"default_tensor\" has {} of {}, expected one {}",
                      count_text(static_cast<size_t>(given->tensor.num_elements()), "element"),
                      given->tensor.dtype().str(), values.dtype.str());
    return relax::make_constant(given->tensor.compact().reshape(runtime::Shape{}));
  }
  if (values.is_real()) return number(float_attr(node, "default_float", -0.0), values.dtype);
  const std::vector<int64_t> one{values.are_strings
                                     ? string_id_attr(importer, node, "default_string", "_Unused")
                                     : int_attr(node, "default_int64", -1)};
  return constant_of(one, {}, values.dtype);
}

// The value of the key that each element of input 0 equals, found by bisection in the sorted keys.
void look_up(Importer& importer, const Node& node, const Numbers& keys, const Numbers& values) {
  if (keys.size() != values.size() || keys.size() == 0)
    throw UserError("{} and {}, expected as many, and one at least", count_text(keys.size(), "key"),
                    count_text(values.size(), "value"));
  const Expr x = importer.value(node, 0);
  const bool reads_strings = node.reads_strings(0);
  if (relax::dtype_of(x) != keys.dtype || reads_strings != keys.are_strings)
    throw UserError("the input is {}, but its keys are {}",
                    reads_strings ? "strings" : relax::dtype_of(x).str(), keys.shown());
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
  const Expr otherwise = default_of(importer, node, values);
  Expr result = otherwise;
  if (!order.empty()) {
    const Places found =
        places_in(importer, node, keys.constant(order), static_cast<int64_t>(order.size()), x);
    const Expr value =
        call("relax.take", {values.constant(order), found.place}, {{"axis", attr(int64_t{0})}});
    result = call("relax.where", {found.is_there, value, otherwise});
  }
  if (at_nan) {
    const Expr value = importer.reshaped(node, values.constant({*at_nan}), {});
    result = call("relax.where", {call("relax.isnan", {x}), value, result});
  }
  if (result.get() == otherwise.get())
    result = call("relax.broadcast_to", {otherwise, relax::shape_expr(shape_of(node, x))});
  importer.define(node.outputs.at(0), result);
}

void label_encoder(Importer& importer, const Node& node) {
  look_up(importer, node, numbers_of(importer, node, "keys"), numbers_of(importer, node, "values"));
}

// Version 1: between strings and their places.
void label_encoder_of_places(Importer& importer, const Node& node) {
  const Numbers classes = strings_in(importer, node, "classes_strings"), places = counted(classes.size());
  if (node.reads_strings(0))
    look_up(importer, node, classes, places);
  else
    look_up(importer, node, places, classes);
}

void category_mapper(Importer& importer, const Node& node) {
  const Numbers texts = strings_in(importer, node, "cats_strings");
  Numbers numbers;
  numbers.integers = ints_attr(node, "cats_int64s", {});
  if (node.reads_strings(0))
    look_up(importer, node, texts, numbers);
  else
    look_up(importer, node, numbers, texts);
}

constexpr AttributeRule kLabelEncoder[] = {
    {"default_float", Attribute::kFloat},    {"default_int64", Attribute::kInt},
    {"default_string", Attribute::kString},  {"default_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4},
    {"keys_floats", Attribute::kFloats},     {"keys_int64s", Attribute::kInts},
    {"keys_strings", Attribute::kStrings},   {"keys_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4},
    {"values_floats", Attribute::kFloats},   {"values_int64s", Attribute::kInts},
    {"values_strings", Attribute::kStrings}, {"values_tensor", Attribute::kTensor, kAnyLeast, kAnyMost, 4}};
constexpr AttributeRule kLabelEncoderOfPlaces[] = {{"classes_strings", Attribute::kStrings},
                                                   {"default_int64", Attribute::kInt},
                                                   {"default_string", Attribute::kString}};
constexpr AttributeRule kCategoryMapper[] = {{"cats_int64s", Attribute::kInts},
                                             {"cats_strings", Attribute::kStrings},
                                             {"default_int64", Attribute::kInt},
                                             {"default_string", Attribute::kString}};

constexpr ConverterRow kRows[] = {
    {"ai.onnx.ml::CategoryMapper", category_mapper, 1, 1, kCategoryMapper},
    {"ai.onnx.ml::LabelEncoder", label_encoder, 1, 1, kLabelEncoder, 1, 2},
    {"ai.onnx.ml::LabelEncoder", label_encoder_of_places, 1, 1, kLabelEncoderOfPlaces, 1, 1, 1},
};

}  // namespace

extern constinit const ConverterTable ml_labels_info = {kRows};

}  // namespace tilewright::frontend::onnx
