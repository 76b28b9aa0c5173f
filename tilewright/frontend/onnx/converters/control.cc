// Branches.  One whose condition is known at import is its chosen branch; otherwise the graph gets an `if`, whose
// branches read values from outside as they are.  Where nodes read a result whose number of dimensions depends on a
// condition on open extents, as exporters write "squeeze this dimension if its extent is 1", the branch is taken that
// the rest of the model goes on with, and the condition becomes a requirement.
// Source: onnx.ai/onnx/operators (If-1, -11 and later, which differ in types only).
#include <algorithm>
#include <utility>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

using Item = Importer::Item;
using Items = std::vector<Item>;

const Graph& branch_of(const Node& node, std::string_view name) {
  const Graph& graph = *node.find(name)->graph;
  if (!graph.inputs.empty())
    throw UserError("{} has {}, a branch has none", name, count_text(graph.inputs.size(), "input"));
  if (graph.outputs.size() != node.outputs.size())
    throw UserError("{} has {}, the node {}", name, count_text(graph.outputs.size(), "output"),
                    node.outputs.size());
  return graph;
}

void define_outputs(Importer& importer, const Node& node, const Items& items) {
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty()) importer.define_item(node.outputs[n], items[n]);
  }
}

// ---- conditions

// The condition if it is a constant or an expression of open extents; null if it is computed when the graph runs.
ir::PrimExpr known_condition(Importer& importer, const Node& node) {
  const std::optional<Known> known = importer.elements(node.inputs[0]);
  if (!known || known->elements.size() != 1 || !known->dtype.is_bool()) return nullptr;
  return known->elements[0].value;
}

// The condition as a bool without dimensions.
Expr condition_of(Importer& importer, const Node& node) {
  const Expr given = importer.value(node, 0);
  const DataType dtype = relax::dtype_of(given);
  if (!dtype.is_bool()) throw UserError("the condition is {}, expected bool", dtype.str());
  const relax::Shape& shape = shape_of(node, given);
  if (shape.empty()) return given;
  const ir::PrimExpr count = relax::num_elements(shape);
  int64_t number = 0;
  if (tir::as_const_int(count, &number) && number != 1)
    throw UserError("the condition is {}, expected one element", relax::shape_text(shape));
  importer.require(node, tir::equal(count, relax::extent_imm(1)), "the condition is {}, expected one element",
                   shape);
  return importer.reshaped(node, given, {});
}

// ---- the results of both branches

// The type of both tensors, with a new dimension for each extent that may differ; that of any value if they have no
// type in common.
ir::Type merged(Importer& importer, const ir::Type& a, const ir::Type& b) {
  const auto *x = a.as<relax::TensorTypeNode>(), *y = b.as<relax::TensorTypeNode>();
  if (!x || !y || x->dtype != y->dtype || x->ndim != y->ndim) return relax::common_type(a, b);
  const relax::Shape *p = relax::known_shape(x), *q = relax::known_shape(y);
  if (!p || !q) return relax::common_type(a, b);
  relax::Shape shape;
  for (size_t n = 0; n < p->size(); ++n) {
    const bool is_same = relax::equal_extents((*p)[n], (*q)[n]) == relax::Answer::kYes;
    shape.push_back(is_same ? (*p)[n] : ir::PrimExpr(importer.new_size()));
    if (!is_same) importer.facts.require(tir::operator<=(relax::extent_imm(0), shape.back()));
  }
  return relax::tensor_type(shape, x->dtype);
}

bool is_of_known_shape(const ir::Type& type) {
  const auto* tensor = type.as<relax::TensorTypeNode>();
  return tensor && tensor->shape;
}

bool has_one_type(const ir::Type& a, const ir::Type& b) {
  const auto *x = a.as<relax::TensorTypeNode>(), *y = b.as<relax::TensorTypeNode>();
  return !x || !y || (x->dtype == y->dtype && x->ndim == y->ndim);
}

// Only outputs of the model may have a type that depends on a condition that is computed when the graph runs.
void require_no_reader(Importer& importer, const std::string& name, const ir::Type& a, const ir::Type& b) {
  if (!importer.is_read_by_nodes(name)) return;
  throw Unsupported("its output \"{}\" is {} or {}, depending on the condition", name, relax::type_text(a),
                    relax::type_text(b))
      .help("make both branches return tensors of one dtype and number of dimensions");
}

/// A branch: its bindings, and the values that it returns: the results of the node, then padded forms of some.
struct Branch {
  relax::SeqExpr body;
  std::vector<Expr> results;
};

// `value` with extents of 1 in front, up to `ndim` dimensions.
Expr padded(Importer& importer, const Node& node, const Expr& value, size_t ndim) {
  relax::Shape shape = shape_of(node, value);
  if (shape.size() == ndim) return value;
  shape.insert(shape.begin(), ndim - shape.size(), relax::extent_imm(1));
  return importer.reshaped(node, value, shape);
}

// The number of dimensions of both tensors with extents of 1 in front of one, if they differ in nothing else; else 0.
size_t padded_ndim(const Expr& a, const Expr& b) {
  const ir::Type one = relax::type_of(a), other = relax::type_of(b);
  const auto *x = one.as<relax::TensorTypeNode>(), *y = other.as<relax::TensorTypeNode>();
  if (!x || !y || x->dtype != y->dtype || x->ndim == y->ndim) return 0;
  const relax::Shape *p = relax::known_shape(x), *q = relax::known_shape(y);
  if (!p || !q) return 0;
  if (p->size() < q->size()) std::swap(p, q);
  relax::Shape shape(p->size() - q->size(), relax::extent_imm(1));
  shape.insert(shape.end(), q->begin(), q->end());
  return relax::equal_shapes(*p, shape) == relax::Answer::kYes ? p->size() : 0;
}

// `ndims` has for each result the number of dimensions of its padded form, 0 for none.
Branch converted_branch(Importer& importer, const Node& node, const Graph& graph,
                        const std::vector<size_t>& ndims) {
  Branch branch;
  branch.body = importer.in_branch(graph, [&]() -> Expr {
    importer.convert_all(graph.nodes);
    for (const ValueInfo& output : graph.outputs) {
      const Node as_input{"output", "", output.name, {output.name}, {}, {}};
      branch.results.push_back(importer.value(as_input, 0));
    }
    for (size_t n = 0; n < ndims.size(); ++n) {
      if (ndims[n] > 0) branch.results.push_back(padded(importer, node, branch.results[n], ndims[n]));
    }
    return branch.results.size() == 1 ? branch.results[0] : Expr(relax::TupleNode::make(branch.results));
  });
  return branch;
}

Expr field_of(Importer& importer, const Expr& tuple, size_t n) {
  const ir::Type whole = relax::type_of(tuple);
  return importer.builder.emit(relax::TupleGetItemNode::make(tuple, static_cast<int64_t>(n),
                                                             whole.as<ir::TupleTypeNode>()->elements.at(n)));
}

// `chosen`, which is `a` or `b`, under the name `name`.
Expr named_result(Importer& importer, const std::string& name, const Expr& chosen, const Expr& a,
                  const Expr& b) {
  const auto *x = a.as<relax::TupleNode>(), *y = b.as<relax::TupleNode>();
  if (x && y && x->elements.size() == y->elements.size()) {
    std::vector<Expr> elements;
    for (size_t n = 0; n < x->elements.size(); ++n)
      elements.push_back(
          named_result(importer, name, field_of(importer, chosen, n), x->elements[n], y->elements[n]));
    return importer.builder.normalize(relax::TupleNode::make(std::move(elements)));
  }
  if (const auto contents = either_contents(importer, a, b)) {
    importer.set_contents(chosen, *contents);
    return chosen;
  }
  const ir::Type one = relax::type_of(a), other = relax::type_of(b), type = merged(importer, one, other);
  if (!is_of_known_shape(type)) {
    require_no_reader(importer, name, one, other);
    return chosen;
  }
  return relax::is_subtype(relax::type_of(chosen), type) == relax::Answer::kYes
             ? chosen
             : Expr(importer.builder.emit_match_cast(chosen, type));
}

void convert_chosen(Importer& importer, const Node& node, bool truth) {
  const Graph& graph = branch_of(node, truth ? "then_branch" : "else_branch");
  Items items;
  importer.in_subgraph(graph, [&] {
    importer.convert_all(graph.nodes);
    items = importer.results_of(graph);
  });
  define_outputs(importer, node, items);
}

// The first result that nodes read and that has another dtype or number of dimensions in each branch.
std::optional<size_t> undecided_result(Importer& importer, const Node& node, const Branch& then,
                                       const Branch& otherwise) {
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty() &&
        !has_one_type(relax::type_of(then.results[n]), relax::type_of(otherwise.results[n])) &&
        importer.is_read_by_nodes(node.outputs[n]))
      return n;
  }
  return std::nullopt;
}

// Requires that a condition on extents chooses the branch that the rest of the model goes on with.
void require_choice(Importer& importer, const Node& node, const ir::PrimExpr& condition, const ir::Type& then,
                    const ir::Type& otherwise, const std::string& name) {
  const bool truth = importer.choice(node);
  importer.require(node, truth ? condition : tir::logical_not(condition),
                   "its output \"{}\" would be {}, but the nodes that read it take {}", name,
                   relax::type_text(truth ? otherwise : then), relax::type_text(truth ? then : otherwise));
  convert_chosen(importer, node, truth);
}

void choose_at_run_time(Importer& importer, const Node& node, const ir::PrimExpr& known) {
  const Expr condition = known ? scalar_value(known) : condition_of(importer, node);
  const Graph &first = branch_of(node, "then_branch"), &second = branch_of(node, "else_branch");
  Branch then = converted_branch(importer, node, first, {}),
         otherwise = converted_branch(importer, node, second, {});
  if (const auto n = undecided_result(importer, node, then, otherwise); known && n)
    return require_choice(importer, node, known, relax::type_of(then.results[*n]),
                          relax::type_of(otherwise.results[*n]), node.outputs[*n]);
  std::vector<size_t> ndims;
  for (size_t n = 0; n < node.outputs.size(); ++n)
    ndims.push_back(padded_ndim(then.results[n], otherwise.results[n]));
  if (std::any_of(ndims.begin(), ndims.end(), [](size_t ndim) { return ndim > 0; })) {
    then = converted_branch(importer, node, first, ndims);
    otherwise = converted_branch(importer, node, second, ndims);
  }
  const Expr chosen =
      importer.builder.emit(relax::IfNode::make(condition, Expr(then.body), Expr(otherwise.body)));
  const bool is_single = then.results.size() == 1;
  size_t place = node.outputs.size();  // of the next padded form
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    const std::string& name = node.outputs[n];
    const size_t of_padded = ndims[n] > 0 ? place++ : 0;
    if (name.empty()) continue;
    const Expr value = is_single ? chosen : field_of(importer, chosen, n);
    if (of_padded > 0) {
      importer.set_padded(value, field_of(importer, chosen, of_padded));
      importer.define(name, value);
    } else {
      importer.define(name, named_result(importer, name, value, then.results[n], otherwise.results[n]));
    }
  }
}

void if_(Importer& importer, const Node& node) {
  const ir::PrimExpr known = known_condition(importer, node);
  int64_t truth = 0;
  if (known && tir::as_const_int(known, &truth)) return convert_chosen(importer, node, truth != 0);
  choose_at_run_time(importer, node, known);
}

constexpr AttributeRule kBranches[] = {
    {"then_branch", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"else_branch", Attribute::kGraph, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {.op = "If",
     .convert = if_,
     .min_inputs = 1,
     .max_inputs = 1,
     .attributes = kBranches,
     .max_outputs = kAnyNumber,
     .num_computed = kAnyNumber},
};

}  // namespace

extern constinit const ConverterTable control_info = {kRows};

}  // namespace tilewright::frontend::onnx
