// Sequences of tensors.
// Source: onnx.ai/onnx/operators (SequenceConstruct, -Empty, -Insert, -Erase, -At, -Length, -Map, SplitToSequence-11
// and -24, ConcatFromSequence).
#include <algorithm>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

/// A sequence with more elements is a list of the virtual machine.
constexpr int64_t kMostElements = 128;

// The element at `input`, a scalar, if it is known when the model is imported.
std::optional<int64_t> constant_at(const Importer& importer, const Node& node, size_t input) {
  const std::optional<relax::Shape> known = importer.known(node, input);
  int64_t number = 0;
  if (!known || known->size() != 1 || !tir::as_const_int((*known)[0], &number)) return std::nullopt;
  return number;
}

// `position` counted from the start; of `count` elements, or of count + 1 places between them.
size_t place_of(int64_t position, size_t count, bool is_between) {
  const auto size = static_cast<int64_t>(count);
  const int64_t place = position < 0 ? position + size : position;
  if (place < 0 || place > size || (place == size && !is_between))
    throw UserError("position {} is outside of a sequence of {}", position, count_text(count, "element"));
  return static_cast<size_t>(place);
}

void construct(Importer& importer, const Node& node) {
  std::vector<Expr> elements;
  for (size_t n = 0; n < node.inputs.size(); ++n) elements.push_back(importer.value(node, n));
  define_tuple(importer, node, std::move(elements));
}

void empty(Importer& importer, const Node& node) {
  if (!node.makes_strings(0))
    dtype_of(int_attr(node, "dtype", 1), "attribute \"dtype\"");  // raises if there is none
  define_tuple(importer, node, {});
}

void length(Importer& importer, const Node& node) {
  const Sequence sequence = sequence_of(importer, node, 0);
  if (sequence.elements) {
    const auto count = static_cast<int64_t>(sequence.elements->elements.size());
    return importer.define_known(node.outputs[0], {kInt64, {}, {{relax::extent_imm(count)}}, &node});
  }
  importer.define(node.outputs[0], call_list_function(importer, "tilewright.list_length", {sequence.value},
                                                      relax::tensor_type({}, kInt64)));
}

void at(Importer& importer, const Node& node) {
  const Sequence sequence = sequence_of(importer, node, 0);
  if (const auto position = constant_at(importer, node, 1); position && sequence.elements) {
    const std::vector<Expr>& elements = sequence.elements->elements;
    return importer.define(node.outputs[0], elements[place_of(*position, elements.size(), false)]);
  }
  const ir::Type type = sequence.type ? sequence.type : relax::object_type();
  const Expr element =
      call_list_function(importer, "tilewright.list_get", {sequence.value, importer.value(node, 1)}, type);
  importer.define(node.outputs[0], with_type(importer, element, type));
}

void insert(Importer& importer, const Node& node) {
  const Sequence sequence = sequence_of(importer, node, 0);
  const Expr element = importer.value(node, 1);
  const bool at_end = !importer.has_input(node, 2);
  const std::optional<int64_t> position =
      at_end || !sequence.elements ? std::nullopt : constant_at(importer, node, 2);
  if (sequence.elements && (at_end || position)) {
    std::vector<Expr> elements = sequence.elements->elements;
    const size_t place = at_end ? elements.size() : place_of(*position, elements.size(), true);
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), element);
    return define_tuple(importer, node, std::move(elements));
  }
  std::vector<Expr> args{sequence.value, element};
  if (!at_end) args.push_back(importer.value(node, 2));
  const Expr list =
      call_list_function(importer, "tilewright.list_insert", std::move(args), relax::object_type());
  define_list(importer, node.outputs[0], list, either_type(sequence.type, relax::type_of(element)));
}

void erase(Importer& importer, const Node& node) {
  const Sequence sequence = sequence_of(importer, node, 0);
  const bool at_end = !importer.has_input(node, 1);
  const std::optional<int64_t> position =
      at_end ? std::optional<int64_t>(-1) : constant_at(importer, node, 1);
  if (sequence.elements && position) {
    std::vector<Expr> elements = sequence.elements->elements;
    elements.erase(elements.begin() +
                   static_cast<std::ptrdiff_t>(place_of(*position, elements.size(), false)));
    return define_tuple(importer, node, std::move(elements));
  }
  std::vector<Expr> args{sequence.value};
  if (!at_end) args.push_back(importer.value(node, 1));
  const Expr list =
      call_list_function(importer, "tilewright.list_erase", std::move(args), relax::object_type());
  define_list(importer, node.outputs[0], list, sequence.type);
}

// ---- concatenation

void concat_from(Importer& importer, const Node& node) {
  const Sequence sequence = sequence_of(importer, node, 0);
  const int64_t axis = int_attr(node, "axis", 0);
  const bool is_stack = int_attr(node, "new_axis", 0) != 0;
  if (!sequence.elements) {
    const auto* element = sequence.type ? sequence.type.as<relax::TensorTypeNode>() : nullptr;
    ir::Type type = relax::object_type();
    if (element)
      type = relax::tensor_type_of_ndim(element->ndim < 0 ? -1 : element->ndim + is_stack, element->dtype);
    const Expr whole = call_list_function(
        importer, "tilewright.list_concat",
        {sequence.value, scalar_value(relax::extent_imm(axis)), scalar_value(relax::extent_imm(is_stack))},
        type);
    return importer.define(node.outputs[0], with_type(importer, whole, type));
  }
  if (sequence.elements->elements.empty()) throw UserError("the sequence has no element");
  std::vector<Expr> parts;
  for (const Expr& element : sequence.elements->elements)
    parts.push_back(is_stack ? importer.bind(node, "relax.expand_dims", {element},
                                             {{"axis", attr(std::vector<int64_t>{axis})}})
                             : element);
  importer.emit(node, "relax.concat", {relax::TupleNode::make(parts)}, {{"axis", attr(axis)}});
}

// ---- splitting

/// Where the parts of a tensor begin along an axis; the last number is the extent.
using Bounds = std::vector<int64_t>;

// Parts of `size`, the last of which may be smaller; nullopt if these are more than kMostElements.
std::optional<Bounds> equal_parts(int64_t whole, int64_t size) {
  if (whole > 0 && (whole - 1) / size >= kMostElements) return std::nullopt;
  Bounds bounds{0};
  while (bounds.back() < whole) bounds.push_back(whole - bounds.back() < size ? whole : bounds.back() + size);
  return bounds;
}

// Nullopt if the number of parts is known only at run time, or more than kMostElements.
std::optional<Bounds> bounds_of(Importer& importer, const Node& node, const ir::PrimExpr& extent) {
  int64_t whole = 0;
  if (!tir::as_const_int(extent, &whole)) return std::nullopt;
  if (!importer.has_input(node, 1)) return equal_parts(whole, 1);
  const std::optional<Known> split = importer.elements(node.inputs[1]);
  if (!split) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Element& element : split->elements) {
    if (!tir::as_const_int(element.value, &sizes.emplace_back())) return std::nullopt;
  }
  const bool is_list = !split->shape.empty();
  if (std::any_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size < (is_list ? 0 : 1); }))
    throw UserError("a part of the split has a size below {}", is_list ? 0 : 1);
  if (!is_list) return equal_parts(whole, sizes.at(0));
  Bounds bounds{0};
  for (int64_t size : sizes) {
    if (size > whole - bounds.back())
      throw UserError("the parts of the split have more elements than the dimension, which has {}", whole);
    bounds.push_back(bounds.back() + size);
  }
  if (bounds.back() != whole)
    throw UserError("the parts of the split have {} elements, the dimension has {}", bounds.back(), whole);
  return static_cast<int64_t>(sizes.size()) <= kMostElements ? std::optional(bounds) : std::nullopt;
}

void split_at_run_time(Importer& importer, const Node& node, const Expr& data, size_t axis, bool keeps) {
  relax::Shape shape = shape_of(node, data);
  const DataType dtype = relax::dtype_of(data);
  std::vector<Expr> args{data, scalar_value(relax::extent_imm(static_cast<int64_t>(axis))),
                         scalar_value(relax::extent_imm(keeps))};
  if (importer.has_input(node, 1)) {
    args.push_back(importer.value(node, 1));
  } else if (keeps) {
    shape[axis] = relax::extent_imm(1);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  const ir::Type type = importer.has_input(node, 1)
                            ? relax::tensor_type_of_ndim(static_cast<int64_t>(shape.size()), dtype)
                            : relax::tensor_type(shape, dtype);
  const Expr list =
      call_list_function(importer, "tilewright.list_split", std::move(args), relax::object_type());
  define_list(importer, node.outputs[0], list, type);
}

void split_to(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, data);
  const auto axis = static_cast<size_t>(checked_axis(int_attr(node, "axis", 0), shape.size()));
  const bool keeps = importer.has_input(node, 1) || int_attr(node, "keepdims", 1) != 0;
  const std::optional<Bounds> bounds = bounds_of(importer, node, shape[axis]);
  if (!bounds) return split_at_run_time(importer, node, data, axis, keeps);
  std::vector<Expr> parts;
  for (size_t n = 0; n + 1 < bounds->size(); ++n) {
    Expr part = importer.bind(node, "relax.strided_slice",
                              {data, relax::shape_expr({relax::extent_imm(static_cast<int64_t>(axis))}),
                               relax::shape_expr({relax::extent_imm((*bounds)[n])}),
                               relax::shape_expr({relax::extent_imm((*bounds)[n + 1])}),
                               relax::shape_expr({relax::extent_imm(1)})});
    if (!keeps)
      part = importer.bind(node, "relax.squeeze", {part},
                           {{"axis", attr(std::vector<int64_t>{static_cast<int64_t>(axis)})}});
    parts.push_back(part);
  }
  define_tuple(importer, node, std::move(parts));
}

// ---- map

// Element n of `input`, a sequence or a tensor that is the same for all.
Importer::Item argument_of(Importer& importer, const Node& node, size_t input, size_t n) {
  if (const auto known = importer.elements(node.inputs[input])) return {importer.value(node, input), known};
  const Expr value = importer.value(node, input);
  const auto* tuple = value.as<relax::TupleNode>();
  if (!tuple) return {value, std::nullopt};
  if (n >= tuple->elements.size())
    throw UserError("input \"{}\" has {}, input \"{}\" more", node.inputs[input],
                    count_text(tuple->elements.size(), "element"), node.inputs[0]);
  return {tuple->elements[n], std::nullopt};
}

Node node_of(std::string op, std::vector<std::string> inputs, std::string output) {
  return {std::move(op), "", "", std::move(inputs), {std::move(output)}, {}};
}

ValueInfo value_called(const std::string& name) {
  ValueInfo info;
  info.name = name;
  return info;
}

// The beginning of names that the model cannot have: no name in a file contains a control character (names.h).
std::string own_names(const Node& node) { return "\x01" + node.outputs[0] + "."; }

// The body of a loop over the sequences: element by element into lists, which are carried.
Graph loop_over(Importer& importer, const Node& node, const Graph& body) {
  const std::string own = own_names(node);
  Graph graph = body;
  graph.inputs = {value_called(own + "iteration"), value_called(own + "condition")};
  graph.outputs = {value_called(own + "condition")};
  std::vector<Node> first;
  for (size_t n = 0; n < body.inputs.size(); ++n) {
    const Expr value = importer.value(node, n);
    const bool is_sequence = is<relax::TupleNode>(value) || importer.contents(value);
    first.push_back(is_sequence
                        ? node_of("SequenceAt", {node.inputs[n], own + "iteration"}, body.inputs[n].name)
                        : node_of("Identity", {node.inputs[n]}, body.inputs[n].name));
  }
  graph.nodes.insert(graph.nodes.begin(), first.begin(), first.end());
  for (size_t n = 0; n < body.outputs.size(); ++n) {
    const std::string list = fmt::format("{}list{}", own, n), longer = fmt::format("{}longer{}", own, n);
    graph.inputs.push_back(value_called(list));
    graph.outputs.push_back(value_called(longer));
    graph.nodes.push_back(node_of("SequenceInsert", {list, body.outputs[n].name}, longer));
  }
  return graph;
}

void map_list(Importer& importer, const Node& node, const Graph& body) {
  const std::string length = own_names(node) + "length", none = own_names(node) + "none";
  Node loop = node;
  loop.op_type = "Loop";
  loop.inputs = {length, ""};
  loop.inputs.resize(2 + node.outputs.size(), none);
  loop.attributes[0].graph = std::make_shared<const Graph>(loop_over(importer, node, body));
  importer.keep_graph(loop.attributes[0].graph);
  importer.convert_all(
      {node_of("SequenceLength", {node.inputs[0]}, length), node_of("SequenceEmpty", {}, none)});
  find_converter("Loop", importer.opset)->convert(importer, loop);
}

void map(Importer& importer, const Node& node) {
  const Sequence first = sequence_of(importer, node, 0);
  const Graph& body = *node.find("body")->graph;
  if (body.inputs.size() != node.inputs.size() || body.outputs.size() != node.outputs.size())
    throw UserError("the body has {} and {}, the node {} and {}", count_text(body.inputs.size(), "input"),
                    count_text(body.outputs.size(), "output"), node.inputs.size(), node.outputs.size());
  bool is_known = first.elements != nullptr;
  for (size_t input = 0; input < node.inputs.size(); ++input)
    is_known = is_known && !importer.contents(importer.value(node, input));
  if (!is_known) return map_list(importer, node, body);
  std::vector<std::vector<Expr>> results(body.outputs.size());
  for (size_t n = 0; n < first.elements->elements.size(); ++n) {
    std::vector<Importer::Item> args;
    for (size_t input = 0; input < body.inputs.size(); ++input)
      args.push_back(argument_of(importer, node, input, n));
    importer.in_subgraph(body, [&] {
      for (size_t input = 0; input < args.size(); ++input)
        importer.define_item(body.inputs[input].name, std::move(args[input]));
      importer.convert_all(body.nodes);
      for (size_t output = 0; output < body.outputs.size(); ++output) {
        const std::string& name = body.outputs[output].name;
        results[output].push_back(importer.value(Node{"output", "", name, {name}, {}, {}}, 0));
      }
    });
  }
  for (size_t output = 0; output < node.outputs.size(); ++output) {
    if (!node.outputs[output].empty())
      importer.define(node.outputs[output],
                      importer.builder.normalize(relax::TupleNode::make(std::move(results[output]))));
  }
}

constexpr AttributeRule kDtype[] = {{"dtype", Attribute::kInt}};
constexpr AttributeRule kConcatFrom[] = {
    {"axis", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}, flag("new_axis")};
constexpr AttributeRule kSplitTo[] = {{"axis", Attribute::kInt}, flag("keepdims")};
constexpr AttributeRule kBody[] = {
    {"body", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {"ConcatFromSequence", concat_from, 1, 1, kConcatFrom, 1, 11},
    {"SequenceAt", at, 2, 2, {}, 1, 11},
    {"SequenceConstruct", construct, 1, kAnyNumber, {}, 1, 11},
    {"SequenceEmpty", empty, 0, 0, kDtype, 1, 11},
    {"SequenceErase", erase, 1, 2, {}, 1, 11},
    {"SequenceInsert", insert, 2, 3, {}, 1, 11},
    {"SequenceLength", length, 1, 1, {}, 1, 11},
    {.op = "SequenceMap",
     .convert = map,
     .min_inputs = 1,
     .max_inputs = kAnyNumber,
     .attributes = kBody,
     .max_outputs = kAnyNumber,
     .since = 17,
     .num_computed = kAnyNumber},
    {"SplitToSequence", split_to, 1, 2, kSplitTo, 1, 11},
};

}  // namespace

extern constinit const ConverterTable sequence_info = {kRows};

}  // namespace tilewright::frontend::onnx
