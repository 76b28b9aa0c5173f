// How one ONNX operator becomes graph operators; used by the files of the importer only.
#pragma once
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/converter.h"
#include "tilewright/frontend/onnx/known.h"
#include "tilewright/frontend/onnx/model.h"
#include "tilewright/ir/options.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {
using ir::attr;
using relax::Expr;
inline constexpr DataType kFloat64 = DataType::float_(64);

/// The state of an import.  What depends on constants alone is computed at once, and small tensors that
/// depend on open dimensions, too, are kept as expressions (known.h), so that a Reshape knows its result
/// although the file computes it at run time.
class Importer {
 public:
  relax::BlockBuilder builder;
  int64_t opset = 1;
  arith::Analyzer facts;  // what holds of the open dimensions

  explicit Importer(const Graph& graph);

  // ---- inputs
  /// Input `input` of `node` as a tensor, or a null Expr if it is left out.
  Expr value(const Node& node, size_t input);
  /// The elements of the value called `name` if they are known now.
  std::optional<Known> elements(const std::string& name) const;
  /// Whether they are known, but not all of them are numbers.
  bool is_expression(const std::string& name) const { return known_.count(name) != 0; }
  /// The elements of input `input`, integers, if they are known now: a constant, or shape arithmetic.
  std::optional<relax::Shape> known(const Node& node, size_t input) const;
  /// The same, or as new dimensions that are what the tensor says when the model runs.  Raises Unsupported if
  /// nobody knows how many there are.
  relax::Shape require_known(const Node& node, size_t input);
  /// The elements of input `input`, numbers; raises Unsupported if it is no constant.
  std::vector<int64_t> require_ints(const Node& node, size_t input) const;
  std::vector<double> require_numbers(const Node& node, size_t input);
  bool has_input(const Node& node, size_t input) const {
    return input < node.inputs.size() && !node.inputs[input].empty();
  }
  /// "input \"s\" is known only at run time: ...", with what it is computed from and what to do.
  Unsupported open_input(const std::string& name) const;

  // ---- results
  /// Reads `node`: what its calls require is stated with its name.
  void convert(const Node& node);
  void define(const std::string& name, Expr value);
  void define_known(const std::string& name, Known known);
  void define_constant(const std::string& name, const runtime::Tensor& data);
  /// The node's first output is its first input.
  void pass_on(const Node& node);
  /// Binds the call and defines the node's first output with it.
  void emit(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  Expr bind(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  /// `value`, computed if the inputs of the node that is converted are constants, else bound to a variable.
  Expr bound(const Expr& value);
  Expr reshaped(const Node& node, const Expr& value, const relax::Shape& shape);
  /// Requires `condition`, a bool of extents, for `node`; see relax::Requirements::holds.
  template <class... Args>
  void require(const Node& node, const ir::PrimExpr& condition, relax::RequirementText<Args...> text,
               const Args&... args) {
    if (facts.can_prove(condition)) return;
    std::vector<relax::Requirement> open;
    relax::Requirements("", &open).holds(condition, text, args...);
    keep(node, std::move(open));
  }
  /// What all nodes require of extents that are known only when the graph runs.
  const std::vector<relax::Requirement>& requirements() const { return requirements_; }
  /// Defines output n of the node with field n of `tuple`, a value with several.
  void define_fields(const Node& node, const Expr& tuple);

 private:
  void require_extents(const Node& node, const Expr& value);
  tir::Var new_size();
  /// `value`, whose extents are names where they were long expressions.
  Expr with_short_extents(Expr value);
  void keep(const Node& node, std::vector<relax::Requirement> open);
  /// Raises Unsupported if an output of `node` is a tensor of which no shape follows.
  void require_known_shapes(const Node& node) const;
  bool has_constant_inputs(const Node& node) const;
  /// The nodes that lead from an input of the graph to the value called `name`; *input is called what that
  /// is.
  std::vector<const Node*> way_to(const std::string& name, std::string* input) const;

  const Graph& graph_;
  std::unordered_map<std::string, const Node*> makers_;
  std::unordered_map<std::string, Expr> values_;
  std::unordered_map<std::string, Known> known_;  // those with elements that are no numbers
  std::vector<relax::Requirement> requirements_;
  bool computes_now_ = false;  // all inputs of the node that is converted are constants
  int64_t steps_left_ = int64_t{1} << 24;
  int64_t num_sizes_ = 0;
  std::unordered_set<const ir::Object*> sizes_;  // dimensions that are read from tensors when the model runs
};

// values
/// The sums of a convolution with the attributes of `node`, without bias.
Expr convolution(Importer& importer, const Node& node, const Expr& data, const Expr& weight);
/// `value` [n, c, ...] with one number added to each channel; itself if `bias` is null.
Expr with_channels(Importer& importer, const Node& node, const Expr& value, const Expr& bias);
/// `value` as a graph value that is a scalar, R.prim_value(value).
Expr scalar_value(const ir::PrimExpr& value);
/// `value` as a constant of shape [].
Expr number(double value, DataType dtype);
/// `value` as `dtype`; itself if it has that already.
Expr converted(const Expr& value, DataType dtype);
/// The same, bound to a variable.
Expr bound_as(Importer& importer, const Expr& value, DataType dtype);
/// `value` in the dtype of its sums (te/topi/elementwise.h): float16 and bfloat16 as float32.
Expr widened(Importer& importer, const Expr& value);
/// The elements of input `input` as literals of its dtype; raises Unsupported if it is no constant.
std::vector<ir::PrimExpr> literals(Importer& importer, const Node& node, size_t input);
/// `axis`, counted from the end when negative, of `ndim` dimensions; raises UserError if there is none.
int64_t checked_axis(int64_t axis, size_t ndim);
/// Raises UserError unless the text is one of `known`.
void require_known_text(std::string_view attribute, std::string_view text,
                        const std::vector<std::string_view>& known);

// attributes
int64_t int_attr(const Node& node, std::string_view name, int64_t otherwise);
double float_attr(const Node& node, std::string_view name, double otherwise);
std::string string_attr(const Node& node, std::string_view name, std::string_view otherwise);
std::vector<int64_t> ints_attr(const Node& node, std::string_view name, std::vector<int64_t> otherwise);
/// The extents of a tensor; raises Unsupported when they are unknown.
const relax::Shape& shape_of(const Node& node, const Expr& value);

}  // namespace tilewright::frontend::onnx
