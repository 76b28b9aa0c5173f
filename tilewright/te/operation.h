// What an operation reads, and operations that read other tensors instead.
#pragma once
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tilewright/te/compute.h"

namespace tilewright::te {

/// What identifies a tensor: its operation, and which output of it.
using TensorKey = std::pair<const Object*, int64_t>;
inline TensorKey key_of(const TeTensorNode* tensor) { return {tensor->op.get(), tensor->value_index}; }

/// The tensors that `op` reads, each once, in the order in which they appear.
std::vector<Tensor> inputs_of(const Operation& op);
/// The tensors that `op` computes.
std::vector<Tensor> outputs_of(const Operation& op);
/// `outputs` and all operations that they depend on, producers first, each once.
std::vector<Operation> operations_of(const std::vector<Operation>& outputs);
/// What the blocks of an operation say of it: its attributes without the tag, which only readers of te ask for.
AttrMap block_attrs(AttrMap attrs);
/// The reduction axes of `op`; none if it is not a reduction.
std::vector<IterVar> reduce_axes_of(const Operation& op);

/// Tensors by what they replace; never iterated: the order of pointers is not defined.
using TensorMap = std::map<TensorKey, Tensor>;
/// `op`, which reads the tensors of `map` instead of its keys; the same operation if it reads none of them.
Operation with_inputs(const Operation& op, const TensorMap& map);

}  // namespace tilewright::te
