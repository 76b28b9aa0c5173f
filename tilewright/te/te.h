// The nodes of tensor expressions.  te/compute.h builds them, te/create_prim_func.h lowers them.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::te {
using namespace tir;

struct TeOperationNode : Object, Group<Kind::kTeOperationBegin, Kind::kTeOperationEnd> {
  using Group::classof;
  using Object::Object;
  std::string name;
};
using Operation = Ref<TeOperationNode>;

/// One output of an operation.  Identity is (op, value_index).
struct TeTensorNode final : Node<TeTensorNode, Object, Kind::kTeTensor> {
  Operation op;
  int64_t value_index = 0;
  std::vector<PrimExpr> shape;
  DataType dtype;
  static constexpr auto fields() {
    return std::tuple{field<&TeTensorNode::op>("op", "the operation that computes it"),
                      field<&TeTensorNode::value_index>("value_index", "which output of op"),
                      field<&TeTensorNode::shape>("shape", "extent of each dimension"),
                      field<&TeTensorNode::dtype>("dtype", "element type")};
  }
};

/// te.placeholder(shape, dtype, name)
struct TePlaceholderNode final : Node<TePlaceholderNode, TeOperationNode, Kind::kTePlaceholder> {
  std::vector<PrimExpr> shape;
  DataType dtype;
  static constexpr auto fields() {
    return std::tuple{field<&TePlaceholderNode::name>("name", "for printing only", Role::kIgnore),
                      field<&TePlaceholderNode::shape>("shape", "extent of each dimension"),
                      field<&TePlaceholderNode::dtype>("dtype", "element type")};
  }
};

/// te.compute(shape, lambda i, j: ...)
struct TeComputeNode final : Node<TeComputeNode, TeOperationNode, Kind::kTeCompute> {
  std::vector<IterVar> axis;
  std::vector<PrimExpr> body;
  AttrMap attrs;
  static constexpr auto fields() {
    return std::tuple{
        field<&TeComputeNode::name>("name", "for printing only", Role::kIgnore),
        field<&TeComputeNode::axis>("axis", "one per output dimension", Role::kDef),
        field<&TeComputeNode::body>("body", "one expression per output; Reduce only at the top"),
        field<&TeComputeNode::attrs>("attrs", "copied to the block")};
  }
};

/// te.extern(shape, inputs, lambda ins, outs: ...): one statement computes all results
struct TeExternNode final : Node<TeExternNode, TeOperationNode, Kind::kTeExtern> {
  std::vector<Ref<TeTensorNode>> inputs;
  std::vector<Buffer> input_buffers, output_buffers;
  Stmt body;
  AttrMap attrs;
  static constexpr auto fields() {
    return std::tuple{field<&TeExternNode::name>("name", "for printing only", Role::kIgnore),
                      field<&TeExternNode::inputs>("inputs", "the tensors it reads"),
                      field<&TeExternNode::input_buffers>(
                          "input_buffers", "the inputs as the body accesses them", Role::kDefRec),
                      field<&TeExternNode::output_buffers>(
                          "output_buffers", "the results as the body accesses them", Role::kDefRec),
                      field<&TeExternNode::body>("body", "reads the inputs, writes the results"),
                      field<&TeExternNode::attrs>("attrs", "copied to the block")};
  }
};

/// te.scan(init, update, state): steps one after the other, each of which computes the states from those before it.
/// The operations between `state` and `update` are its cell: dimension 0 of their tensors is the step.
struct TeScanNode final : Node<TeScanNode, TeOperationNode, Kind::kTeScan> {
  std::vector<IterVar> axis;  // of steps
  std::vector<IterVar> spatial_axis;
  std::vector<Ref<TeTensorNode>> init, update, state, inputs;
  AttrMap attrs;
  static constexpr auto fields() {
    return std::tuple{
        field<&TeScanNode::name>("name", "for printing only", Role::kIgnore),
        field<&TeScanNode::axis>("axis", "the steps: one axis", Role::kDef),
        field<&TeScanNode::spatial_axis>("spatial_axis", "the other dimensions of all states", Role::kDef),
        field<&TeScanNode::init>("init", "the first steps of each state"),
        field<&TeScanNode::update>("update", "each state at a step, from those before it"),
        field<&TeScanNode::state>("state", "placeholders for the states, which the cell reads"),
        field<&TeScanNode::inputs>("inputs", "what else the cell reads; for readers of the program"),
        field<&TeScanNode::attrs>("attrs", "copied to the blocks")};
  }
};

}  // namespace tilewright::te
