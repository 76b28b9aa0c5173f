// How one ONNX operator becomes graph operators; used by the files of the importer only.
#pragma once
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/model.h"
#include "tilewright/ir/options.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/op.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {
using ir::attr;
using relax::Expr;
inline constexpr DataType kFloat64 = DataType::float_(64);

/// The state of an import.  Integer tensors that shapes are made of (Shape, Gather, Concat chains) are kept
/// as expressions, so that a Reshape knows its result although the file computes it at run time.
class Importer {
 public:
  relax::BlockBuilder builder;
  int64_t opset = 1;

  /// Input `input` of `node` as a tensor, or a null Expr if it is left out.
  Expr value(const Node& node, size_t input);
  /// Raises Unsupported if an output of `node` is a tensor of which no shape follows.
  void require_known_shapes(const Node& node) const;
  /// The elements of input `input` if they are known now: a constant, or shape arithmetic.
  std::optional<relax::Shape> known(const Node& node, size_t input) const;
  /// The same; raises Unsupported if they are known only at run time.
  relax::Shape require_known(const Node& node, size_t input) const;
  std::vector<int64_t> require_ints(const Node& node, size_t input) const;
  /// The elements of input `input`, numbers; raises Unsupported if it is no constant.
  std::vector<double> require_numbers(const Node& node, size_t input);
  /// Whether input `input`, known now, is one number of shape [] instead of a list.
  bool is_scalar(const Node& node, size_t input) const;

  void define(const std::string& name, Expr value);
  void define_known(const std::string& name, relax::Shape elements, bool is_scalar = false);
  void define_constant(const std::string& name, const runtime::Tensor& data);
  /// The node's first output is its first input.
  void pass_on(const Node& node);
  /// Binds the call and defines the node's first output with it.
  void emit(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  Expr bind(const Node& node, std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {});
  Expr reshaped(const Node& node, const Expr& value, const relax::Shape& shape);
  /// Requires `condition`, a bool of extents, for `node`; see relax::Requirements::holds.
  template <class... Args>
  void require(const Node& node, const ir::PrimExpr& condition, relax::RequirementText<Args...> text,
               const Args&... args) {
    std::vector<relax::Requirement> open;
    relax::Requirements(node.op_type, &open).holds(condition, text, args...);
    keep(node, std::move(open));
  }
  /// Reads `node`: what its calls require is stated with its name.
  void convert(const Node& node);
  /// What all nodes require of extents that are known only when the graph runs.
  const std::vector<relax::Requirement>& requirements() const { return requirements_; }
  /// Defines output n of the node with field n of `tuple`, a value with several.
  void define_fields(const Node& node, const Expr& tuple);

 private:
  std::unordered_map<std::string, Expr> values_;
  std::unordered_map<std::string, relax::Shape> known_;
  std::unordered_set<std::string> scalars_;  // of known_, those that are no list
  void keep(const Node& node, std::vector<relax::Requirement> open);
  std::vector<relax::Requirement> requirements_;
};

using Converter = void (*)(Importer& importer, const Node& node);
struct ConverterRow {
  std::string_view op;
  Converter convert;
};
/// The converter of the operator that Node::op calls so, or null.
Converter find_converter(std::string_view op);
std::span<const ConverterRow> math_converters();
std::span<const ConverterRow> activation_converters();
std::span<const ConverterRow> move_converters();
std::span<const ConverterRow> arrange_converters();
std::span<const ConverterRow> create_converters();
std::span<const ConverterRow> reduce_converters();
std::span<const ConverterRow> nn_converters();
std::span<const ConverterRow> pool_converters();
std::span<const ConverterRow> norm_converters();
std::span<const ConverterRow> quantization_converters();
std::span<const ConverterRow> resize_converters();
std::span<const ConverterRow> contrib_converters();

// values
/// The sums of a convolution with the attributes of `node`, without bias.
Expr convolution(Importer& importer, const Node& node, const Expr& data, const Expr& weight);
/// `value` [n, c, ...] with one number added to each channel; itself if `bias` is null.
Expr with_channels(Importer& importer, const Node& node, const Expr& value, const Expr& bias);
/// `value` as a constant of shape [].
Expr number(double value, DataType dtype);
/// `value` as `dtype`; itself if it has that already.
Expr converted(const Expr& value, DataType dtype);
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
