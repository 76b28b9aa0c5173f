// Operators of text.  Source: onnx.ai/onnx/operators (StringConcat-20, StringNormalizer-10, StringSplit-20,
// RegexFullMatch-20).
#include <algorithm>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/regex.h"
#include "tilewright/frontend/onnx/graphs/string_graph.h"
#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

template <class T>
Expr table_of(const std::vector<T>& data, const runtime::Shape& shape, DataType dtype) {
  return relax::make_constant(runtime::Tensor::copy_of(data.data(), data.size() * sizeof(T), shape, dtype));
}

// Both with the shape that they have in common.
void string_concat(Importer& importer, const Node& node) {
  const Expr a = strings_of(importer, node, 0), b = strings_of(importer, node, 1);
  const auto broadcast = [&](bool is_first) {
    const std::vector<uint8_t> chosen{is_first};
    const Expr which =
        relax::make_constant(runtime::Tensor::copy_of(chosen.data(), 1, runtime::Shape{}, kBoolType));
    return importer.bind(node, "relax.where", {which, a, b});
  };
  const Expr first = broadcast(true), second = broadcast(false);
  importer.define(node.outputs.at(0),
                  call_string_function(importer, "concat", {first, second}, relax::type_of(first)));
}

// Languages in which letters have another case than elsewhere.
bool has_own_case(std::string_view locale) {
  const std::string_view language = locale.substr(0, std::min(locale.find_first_of("_-."), locale.size()));
  return language == "az" || language == "lt" || language == "tr";
}

void string_normalizer(Importer& importer, const Node& node) {
  const Expr x = strings_of(importer, node, 0);
  const std::string change = string_attr(node, "case_change_action", "NONE"),
                    locale = string_attr(node, "locale", "");
  require_known_text("case_change_action", change, {"NONE", "LOWER", "UPPER"});
  if (change != "NONE" && has_own_case(locale))
    throw Unsupported("locale is \"{}\", in which letters have another case", locale)
        .help("supported are those in which i and I are one letter, such as en_US");
  relax::Shape shape = shape_of(node, x);
  if (shape.empty() || shape.size() > 2)
    throw UserError("the input has {}, expected 1 or 2", count_text(shape.size(), "dimension"));
  if (shape.size() == 2)
    importer.require(node, tir::equal(shape[0], relax::extent_imm(1)), "the input has {} rows, expected 1",
                     shape[0]);
  const std::vector<int64_t> words = string_ids_attr(importer, node, "stopwords");
  const Expr stops = table_of(words, {static_cast<int64_t>(words.size())}, kInt64);
  const Expr left =
      call_string_function(importer, "normalize",
                           {x, relax::StringValueNode::make(change),
                            scalar_value(tir::bool_imm(int_attr(node, "is_case_sensitive", 0) != 0)), stops},
                           relax::tensor_type_of_ndim(static_cast<int64_t>(shape.size()), kInt64));
  shape.back() = nullptr;
  importer.define(node.outputs.at(0), importer.with_shape(left, shape));
}

void string_split(Importer& importer, const Node& node) {
  const Expr x = strings_of(importer, node, 0);
  relax::Shape shape = shape_of(node, x);
  const auto ndim = static_cast<int64_t>(shape.size());
  const Expr both = call_string_function(
      importer, "split",
      {x, relax::StringValueNode::make(string_attr(node, "delimiter", "")),
       scalar_value(relax::extent_imm(int_attr(node, "maxsplit", -1)))},
      relax::tuple_type({relax::tensor_type_of_ndim(ndim + 1, kInt64), relax::tensor_type(shape, kInt64)}));
  const auto field = [&](int64_t n) {
    const ir::Type whole = relax::type_of(both);
    return importer.builder.emit(relax::TupleGetItemNode::make(
        both, n, whole.as<ir::TupleTypeNode>()->elements.at(static_cast<size_t>(n))));
  };
  if (node.outputs.size() > 1 && !node.outputs[1].empty()) importer.define(node.outputs[1], field(1));
  shape.push_back(nullptr);
  importer.define(node.outputs.at(0), importer.with_shape(field(0), shape));
}

void regex_full_match(Importer& importer, const Node& node) {
  const Expr x = strings_of(importer, node, 0);
  const Automaton automaton = automaton_of(string_attr(node, "pattern", ""));
  const auto num_states = static_cast<int64_t>(automaton.is_end.size()),
             num_classes = static_cast<int64_t>(automaton.next.size()) / num_states;
  const Expr classes = table_of(automaton.classes, {256}, DataType::uint(8)),
             next = table_of(automaton.next, {num_states, num_classes}, kInt32),
             ends = table_of(automaton.is_end, {num_states}, kBoolType);
  importer.define(node.outputs.at(0), call_string_function(importer, "matches", {x, classes, next, ends},
                                                           relax::tensor_type(shape_of(node, x), kBoolType)));
}

constexpr AttributeRule kNormalizer[] = {{"case_change_action", Attribute::kString},
                                         flag("is_case_sensitive"),
                                         {"locale", Attribute::kString},
                                         {"stopwords", Attribute::kStrings}};
constexpr AttributeRule kSplit[] = {{"delimiter", Attribute::kString}, {"maxsplit", Attribute::kInt}};
constexpr AttributeRule kPattern[] = {required("pattern", Attribute::kString)};

constexpr ConverterRow kRows[] = {
    {.op = "RegexFullMatch",
     .convert = regex_full_match,
     .min_inputs = 1,
     .max_inputs = 1,
     .attributes = kPattern,
     .since = 20},
    {.op = "StringConcat", .convert = string_concat, .min_inputs = 2, .max_inputs = 2, .since = 20},
    {.op = "StringNormalizer",
     .convert = string_normalizer,
     .min_inputs = 1,
     .max_inputs = 1,
     .attributes = kNormalizer,
     .since = 10},
    {.op = "StringSplit",
     .convert = string_split,
     .min_inputs = 1,
     .max_inputs = 1,
     .attributes = kSplit,
     .max_outputs = 2,
     .since = 20,
     .num_computed = 2},
};

}  // namespace

extern constinit const ConverterTable strings_info = {kRows};

}  // namespace tilewright::frontend::onnx
