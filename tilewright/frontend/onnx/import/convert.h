// Converts single ONNX operators to graph operators; used by the files of the importer only.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/import/choices.h"
#include "tilewright/frontend/onnx/import/converter.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/frontend/onnx/import/known.h"
#include "tilewright/frontend/onnx/import/scopes.h"
#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/ir/options.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"
#include "tilewright/support/span.h"

namespace tilewright::frontend::onnx {
using ir::attr;
using relax::Expr;
inline constexpr DataType kFloat64 = DataType::float_(64);

struct Contents;
class StringTable;

/// The state of an import.  Values that depend only on constants are computed at once.  Small tensors that
/// depend on symbolic dimensions are kept as expressions (known.h), so that the result of a Reshape is known
/// although the file computes its shape at run time.
class Importer {
 public:
  relax::BlockBuilder builder;
  int64_t opset = 1;  // of ai.onnx, where the node that is being converted stands
  const CustomConverters* custom = nullptr;
  arith::Analyzer facts;                 // facts about symbolic dimensions
  const StringTable* strings = nullptr;  // of the model; null if no value holds strings
  Expr string_pool;                      // that functions of strings read and fill (import/strings.h)

  Importer(const Graph& graph, Choices& choices);

  // ---- inputs
  /// Input `input` of `node` as a tensor, or a null Expr if it is left out.
  Expr value(const Node& node, size_t input);
  /// The elements of the value called `name` if they are known at import time.
  std::optional<Known> elements(const std::string& name) const;
  /// True if the elements are known, but not all of them are constants.
  bool is_expression(const std::string& name) const { return scopes_.known(name) != nullptr; }
  /// True if the value called `name` is a constant or such an expression: no code has to compute it.
  bool is_computed(const std::string& name) const;
  /// The dtype of the tensor called `name`; void if nothing has made it.
  DataType value_dtype(const std::string& name) const;
  /// The elements of input `input`, integers, if they are known at import time: a constant, or shape
  /// arithmetic.
  std::optional<relax::Shape> known(const Node& node, size_t input) const;
  /// The same, or new dimensions for elements that are only known at run time.  Raises Unsupported if their
  /// number is unknown, or larger than any shape's.
  relax::Shape require_known(const Node& node, size_t input);
  /// The elements of input `input`, constants; raises Unsupported if it is not a constant.
  std::vector<int64_t> require_ints(const Node& node, size_t input) const;
  std::vector<double> require_numbers(const Node& node, size_t input);
  bool has_input(const Node& node, size_t input) const {
    return input < node.inputs.size() && !node.inputs[input].empty();
  }
  /// True if a node or an output of the graph reads the value.
  bool is_used(const std::string& name);
  /// The error "input \"s\" is known only at run time: ...", with the origin of the value and the next step.
  Unsupported open_input(const std::string& name) const;

  // ---- results
  /// Converts `node`; requirements of its calls mention its name.
  void convert(const Node& node);
  /// Computes or converts `node`.  Raises UserError if it takes no strings and gets some.
  void add(const Node& node);
  /// The same for each of `nodes`; errors begin with the node's name.
  void convert_all(const std::vector<Node>& nodes);
  void define(const std::string& name, Expr value);
  void define_known(const std::string& name, Known known);
  void define_constant(const std::string& name, const runtime::Tensor& data);
  /// Makes the node's first output an alias of its first input.
  void pass_on(const Node& node);
  /// Binds the call and defines the node's first output with it.
  void emit(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  Expr bind(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  /// `given`, computed now if all inputs of the current node are constants, else bound to a variable.
  Expr bound(const Expr& given);
  Expr reshaped(const Node& node, const Expr& value, const relax::Shape& shape);
  /// `value`, a tensor whose shape only the call knows, as one of `shape`, so that following operators know its
  /// extents.  Those that are null become new open dimensions, which are read from the tensor when the model runs.
  Expr with_shape(const Expr& value, relax::Shape shape);
  /// Requires `condition`, a bool of extents, for `node`; see relax::Requirements::holds.
  template <class... Args>
  void require(const Node& node, const ir::PrimExpr& condition, relax::RequirementText<Args...> text,
               const Args&... args) {
    if (facts.can_prove(condition)) return;
    std::vector<relax::Requirement> open;
    relax::Requirements("", &open).holds(condition, text, args...);
    keep(node, std::move(open));
  }
  /// The requirements of all nodes on extents that are known only at run time.
  const std::vector<relax::Requirement>& requirements() const { return requirements_; }

  // ---- subgraphs (subgraph.cc)
  /// Calls `body` in a scope of names for `graph`, a subgraph whose operators are checked first.
  void in_subgraph(const Graph& graph, const std::function<void()>& body);
  /// The same in a sequence of bindings of its own, a branch or the body of a loop, which ends with the value
  /// that `body` returns.  Requirements of its nodes are stated in it.  `params` are those of the body of a loop.
  relax::SeqExpr in_branch(const Graph& graph, const std::function<Expr()>& body,
                           const std::vector<relax::Var>& params = {});
  /// Whether the import goes on with the first branch of `node`.
  bool choice(const Node& node) { return choices_.is_first(node.outputs.at(0)); }
  /// How often loops around the current node that are written out repeat it.
  int64_t num_copies = 1;
  /// Keeps a subgraph that a converter has made: known values point to its nodes.
  void keep_graph(std::shared_ptr<const Graph> graph) { kept_.push_back(std::move(graph)); }
  /// A value together with what is known of its elements.
  struct Item {
    Expr value;  // null: only its elements are known
    std::optional<Known> known;
  };
  /// The results of `graph`, whose scope is open, in a form that may leave it.
  std::vector<Item> results_of(const Graph& graph);
  /// Gives `item` the name `name` in the innermost scope.
  void define_item(const std::string& name, Item item);
  /// What `value`, a list or optional value of the virtual machine, holds; null for other values (lists.h).
  const Contents* contents(const Expr& value) const;
  void set_contents(const Expr& value, const Contents& contents);
  /// Says that `value` has another number of dimensions in each branch of an If; `padded` is the same with extents of 1
  /// in front.  Nodes that broadcast it to as many dimensions take that, others are refused.
  void set_padded(const Expr& value, const Expr& padded) { padded_[value.get()] = padded; }
  /// True if a node, or a subgraph of one, reads the value called `name` of the graph that is converted.
  bool is_read_by_nodes(const std::string& name);
  /// True if graphs with branches were made, which stand in dataflow blocks until they are moved out.
  bool has_branches() const { return has_branches_; }
  /// A dimension that is known only at run time.
  tir::Var new_size();
  /// Defines output n of the node with field n of `tuple`, a value with several.
  void define_fields(const Node& node, const Expr& tuple);

 private:
  /// `value` with the current node as the origin of its calls (relax/graph/origin.h).
  Expr with_origin(const Expr& value) const;
  void require_extents(const Node& node, const Expr& value);
  void state(const relax::Requirement& requirement);
  /// `value`, input `input` of `node`, or its padded form.
  Expr as_read(const Node& node, size_t input, const Expr& value) const;
  /// The tensor that the node `maker` computes, which made a known value of scope `depth`.
  Expr computed(const Node& maker, const std::string& name, size_t depth);
  /// `value` with long expressions in its extents replaced by names.
  Expr with_short_extents(Expr value);
  void keep(const Node& node, std::vector<relax::Requirement> open);
  /// Calls the converter of `node`, which may be one that came with the import.
  void call_converter(const Node& node);
  /// Raises Unsupported if an output of `node` is a tensor of unknown shape.
  void require_known_shapes(const Node& node) const;
  bool has_constant_inputs(const Node& node) const;
  /// The nodes between an input of the graph and the value called `name`; sets *input to the name of that
  /// input.
  std::vector<const Node*> way_to(const std::string& name, std::string* input) const;

  const Graph& graph_;
  Choices& choices_;
  Scopes scopes_;
  std::vector<relax::Requirement> requirements_;
  const Graph* current_;                                // that is converted: the model's, or a subgraph
  std::optional<std::set<std::string>> read_by_nodes_;  // names of current_; made when somebody asks
  size_t num_branches_ = 0;                             // that the current node lies in
  std::vector<ir::PrimExpr> stated_;                    // conditions of requirements that these state
  bool has_branches_ = false;
  std::vector<std::shared_ptr<const Graph>> kept_;
  std::unordered_map<const ir::Object*, std::shared_ptr<const Contents>> contents_;  // by variable
  std::unordered_map<const ir::Object*, Expr> padded_;                               // by variable
  bool computes_now_ = false;  // all inputs of the current node are constants
  Span origin_;                // of the current node
  int64_t steps_left_ = int64_t{1} << 24;
  int64_t num_sizes_ = 0;
  std::unordered_set<const ir::Object*> sizes_;  // dimensions that are read from tensors at run time
};

// values
/// The convolution with the attributes of `node`, without bias.
Expr convolution(Importer& importer, const Node& node, const Expr& data, const Expr& weight);
/// `value` [n, c, ...] with one value of `bias` added to each channel; `value` itself if `bias` is null.
Expr with_channels(Importer& importer, const Node& node, const Expr& value, const Expr& bias);
/// `value` as a scalar graph value, R.prim_value(value).
Expr scalar_value(const ir::PrimExpr& value);
/// `value` as a constant of shape [].
Expr number(double value, DataType dtype);
/// `value` cast to `dtype`; itself if it has that dtype already.
Expr converted(const Expr& value, DataType dtype);
/// The same, bound to a variable.
Expr bound_as(Importer& importer, const Expr& value, DataType dtype);
/// `x` cast to `dtype` as Cast of ONNX does: attributes saturate and round_mode say how values that are no floats of 8
/// bits become such.
Expr saturated_as(Importer& importer, const Node& node, const Expr& x, DataType dtype);
/// `value` in the dtype of its sums (te/topi/elementwise.h): float16 and bfloat16 become float32.
Expr widened(Importer& importer, const Expr& value);
/// The elements of input `input` as literals of its dtype; raises Unsupported if it is not a constant.
std::vector<ir::PrimExpr> literals(Importer& importer, const Node& node, size_t input);
/// `axis` of `ndim` dimensions, counted from the end if negative; raises UserError if there is none.
int64_t checked_axis(int64_t axis, size_t ndim);
/// Raises UserError unless `text` is one of `known`.
void require_known_text(std::string_view attribute, std::string_view text,
                        const std::vector<std::string_view>& known);

// attributes
int64_t int_attr(const Node& node, std::string_view name, int64_t otherwise);
double float_attr(const Node& node, std::string_view name, double otherwise);
std::string string_attr(const Node& node, std::string_view name, std::string_view otherwise);
std::vector<int64_t> ints_attr(const Node& node, std::string_view name, std::vector<int64_t> otherwise);
/// The extents of a tensor; raises Unsupported if they are unknown.
const relax::Shape& shape_of(const Node& node, const Expr& value);

}  // namespace tilewright::frontend::onnx
