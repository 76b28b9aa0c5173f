// How one ONNX operator becomes graph operators; used by the files of the importer only.
#pragma once
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/onnx/model.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/op.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {
using relax::Expr;

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

 private:
  std::unordered_map<std::string, Expr> values_;
  std::unordered_map<std::string, relax::Shape> known_;
  std::unordered_set<std::string> scalars_;  // of known_, those that are no list
};

using Converter = void (*)(Importer& importer, const Node& node);
/// The converter of an ai.onnx operator, or null.
Converter find_converter(std::string_view op_type);

// attributes
int64_t int_attr(const Node& node, std::string_view name, int64_t otherwise);
double float_attr(const Node& node, std::string_view name, double otherwise);
std::string string_attr(const Node& node, std::string_view name, std::string_view otherwise);
std::vector<int64_t> ints_attr(const Node& node, std::string_view name, std::vector<int64_t> otherwise);
ir::ObjectRef int_list(const std::vector<int64_t>& values);
ir::ObjectRef integer(int64_t value);
ir::ObjectRef real(double value);
relax::Constant constant_of(const runtime::Tensor& data);
/// The extents of a tensor; raises Unsupported when they are unknown.
const relax::Shape& shape_of(const Node& node, const Expr& value);

void convert_conv(Importer& importer, const Node& node);
void convert_max_pool(Importer& importer, const Node& node);
void convert_average_pool(Importer& importer, const Node& node);
void convert_global_average_pool(Importer& importer, const Node& node);
void convert_batch_norm(Importer& importer, const Node& node);
void convert_gemm(Importer& importer, const Node& node);

}  // namespace tilewright::frontend::onnx
