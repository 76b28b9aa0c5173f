// Loops.  One of few iterations, whose number is known when the model is imported, is written out; others become
// R.loop.
// Source: onnx.ai/onnx/operators (Loop-1, -11, -13 and later, which differ in types only).
#include <algorithm>
#include <utility>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/frontend/onnx/import/loops.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/finally.h"

namespace tilewright::frontend::onnx {
namespace {

using Item = Importer::Item;

/// A loop is written out if that makes at most this many nodes, with the loops around it that are written out.
constexpr int64_t kMostNodes = 256;
constexpr size_t kMostInputs = 4096;  // some of which may be left out

// `value` as the body declares its input `input`, a scalar or a list of one number.
Expr as_declared(Importer& importer, const Node& node, const ValueInfo& input, const Expr& value) {
  if (!input.has_shape || input.shape.size() != 1) return value;
  return importer.reshaped(node, value, {relax::extent_imm(1)});
}

// Input `input`, one number, without dimensions; null if it is left out.
Expr scalar_input(Importer& importer, const Node& node, size_t input, DataType dtype) {
  const Expr value = importer.value(node, input);
  if (!value) return nullptr;
  if (relax::dtype_of(value) != dtype)
    throw UserError("input \"{}\" is {}, expected {}", node.inputs[input],
                    relax::type_text(relax::type_of(value)), dtype.str());
  const relax::Shape& shape = shape_of(node, value);
  if (shape.empty()) return value;
  importer.require(node, tir::equal(relax::num_elements(shape), relax::extent_imm(1)),
                   "an input is {}, expected one number", shape);
  return importer.reshaped(node, value, {});
}

// ---- Loop

// The element of `input` if it is known when the model is imported: a number, or an expression of extents.
ir::PrimExpr known_element(const Importer& importer, const Node& node, size_t input) {
  if (!importer.has_input(node, input)) return nullptr;
  const std::optional<Known> known = importer.elements(node.inputs[input]);
  return known && known->elements.size() == 1 ? known->elements[0].value : ir::PrimExpr();
}

// True if the value called `name` of `body` is the constant true, or the condition that it is given.
bool is_always_true(const Graph& body, std::string name) {
  const auto is_true = [](const runtime::Tensor& data) {
    return data.dtype().is_bool() && data.num_elements() == 1 && *data.data_as<uint8_t>() != 0;
  };
  for (size_t steps = 0; steps <= body.nodes.size(); ++steps) {
    if (name == body.inputs[1].name) return true;
    if (const auto found = body.initializers.find(name); found != body.initializers.end())
      return is_true(found->second);
    const auto maker = std::find_if(body.nodes.begin(), body.nodes.end(),
                                    [&](const Node& node) { return node.outputs[0] == name; });
    if (maker == body.nodes.end()) return false;
    const Attribute* value = maker->find("value");
    if (maker->op_type == "Constant" && value && value->kind == Attribute::kTensor)
      return is_true(value->tensor);
    if (maker->op_type != "Identity" || maker->inputs.empty()) return false;
    name = maker->inputs[0];
  }
  return false;
}

/// A Loop node: carried values, and values that are collected.
struct LoopNode {
  const Node& node;
  const Graph& body;
  size_t num_carried = 0;
  ir::PrimExpr most;  // null: it is known only at run time, or there is no limit
  bool has_condition = false;

  std::optional<int64_t> constant_most() const {
    int64_t count = 0;
    return most && tir::as_const_int(most, &count) ? std::optional(count) : std::nullopt;
  }
};

LoopNode read_loop(const Importer& importer, const Node& node) {
  const Graph& body = *node.find("body")->graph;
  const size_t num_carried = node.inputs.size() > 2 ? node.inputs.size() - 2 : 0;
  if (node.outputs.size() < num_carried)
    throw UserError("{} and {}", count_text(num_carried, "carried value"),
                    count_text(node.outputs.size(), "output"));
  require_counts(body, 2 + num_carried, 1 + node.outputs.size());
  for (size_t n = 2; n < node.inputs.size(); ++n) {
    if (!importer.has_input(node, n)) throw UserError("input {} is left out, but is required", n);
  }
  LoopNode loop{node, body, num_carried, known_element(importer, node, 0), importer.has_input(node, 1)};
  if (loop.has_condition) {
    const ir::PrimExpr first = known_element(importer, node, 1);
    int64_t truth = 0;
    if (first && tir::as_const_int(first, &truth)) {
      if (!truth) loop.most = relax::extent_imm(0);
      loop.has_condition = truth && !is_always_true(body, body.outputs[0].name);
    }
  }
  return loop;
}

bool is_written_out(const LoopNode& loop, int64_t num_copies) {
  const auto most = loop.constant_most();
  const auto num_nodes = std::max<int64_t>(static_cast<int64_t>(loop.body.nodes.size()), 1);
  return most && !loop.has_condition && *most >= 1 && *most <= kMostNodes / (num_nodes * num_copies);
}

Known scalar(const ValueInfo& declared, DataType dtype, const ir::PrimExpr& value) {
  std::vector<int64_t> shape;
  if (declared.has_shape && declared.shape.size() == 1) shape.push_back(1);
  return {dtype, std::move(shape), {{value}}, nullptr};
}

void write_out(Importer& importer, const LoopNode& loop) {
  const Graph& body = loop.body;
  std::vector<Item> carried;
  for (size_t n = 0; n < loop.num_carried; ++n) {
    const std::string& name = loop.node.inputs[2 + n];
    carried.push_back({importer.value(loop.node, 2 + n), importer.elements(name)});
  }
  std::vector<std::vector<Expr>> collected(loop.node.outputs.size() - loop.num_carried);
  const Finally restore(
      [&, around = std::exchange(importer.num_copies, importer.num_copies * *loop.constant_most())] {
        importer.num_copies = around;
      });
  for (int64_t iteration = 0; iteration < *loop.constant_most(); ++iteration) {
    importer.in_subgraph(body, [&] {
      importer.define_known(body.inputs[0].name,
                            scalar(body.inputs[0], kInt64, relax::extent_imm(iteration)));
      importer.define_known(body.inputs[1].name, scalar(body.inputs[1], kBoolType, tir::bool_imm(true)));
      for (size_t n = 0; n < carried.size(); ++n)
        importer.define_item(body.inputs[2 + n].name, std::move(carried[n]));
      importer.convert_all(body.nodes);
      std::vector<Item> results = importer.results_of(body);
      for (size_t n = 0; n < collected.size(); ++n) {
        const std::string& name = body.outputs[1 + carried.size() + n].name;
        const Expr value = importer.value(Node{"output", "", name, {name}, {}, {}}, 0);
        collected[n].push_back(importer.bind(loop.node, "relax.expand_dims", {value},
                                             {{"axis", attr(std::vector<int64_t>{0})}}));
      }
      for (size_t n = 0; n < carried.size(); ++n) carried[n] = std::move(results[1 + n]);
    });
  }
  for (size_t n = 0; n < loop.node.outputs.size(); ++n) {
    const std::string& name = loop.node.outputs[n];
    if (name.empty()) continue;
    if (n < carried.size())
      importer.define_item(name, std::move(carried[n]));
    else
      importer.define(name, importer.bind(loop.node, "relax.concat",
                                          {relax::TupleNode::make(collected[n - carried.size()])},
                                          {{"axis", attr(int64_t{0})}}));
  }
}

void loop(Importer& importer, const Node& node) {
  const LoopNode loop = read_loop(importer, node);
  if (is_written_out(loop, importer.num_copies)) return write_out(importer, loop);
  const Graph& body = loop.body;
  Repetition repetition{body, 2, 1, loop.most, nullptr, nullptr, {}, {}};
  if (loop.most)
    repetition.most = scalar_value(relax::as_extent(loop.most));
  else
    repetition.most = scalar_input(importer, node, 0, kInt64);
  if (loop.has_condition) repetition.condition = scalar_input(importer, node, 1, kBoolType);
  for (size_t n = 0; n < loop.num_carried; ++n) repetition.initial.push_back(importer.value(node, 2 + n));
  repetition.define_inputs = [&](const Expr& iteration, const Expr& condition) {
    importer.define(body.inputs[0].name, as_declared(importer, node, body.inputs[0], iteration));
    if (loop.has_condition)
      importer.define(body.inputs[1].name, as_declared(importer, node, body.inputs[1], condition));
    else
      importer.define_known(body.inputs[1].name, scalar(body.inputs[1], kBoolType, tir::bool_imm(true)));
  };
  define_results(importer, node, repeat(importer, node, repetition));
}

constexpr AttributeRule kBody[] = {
    {"body", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr ConverterRow kRows[] = {
    {.op = "Loop",
     .convert = loop,
     .min_inputs = 0,
     .max_inputs = kMostInputs,
     .attributes = kBody,
     .max_outputs = kAnyNumber,
     .num_computed = kAnyNumber},
};

}  // namespace

extern constinit const ConverterTable loop_info = {kRows};

}  // namespace tilewright::frontend::onnx
