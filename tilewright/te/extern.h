// Tensors that one statement computes as a whole: a call of a registered function, or loops written by hand.
//   auto [C] = external({{{n, m}, kFloat32}}, {A, B}, [](const auto& ins, const auto& outs) { return ...; });
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::te {

struct ExternSpec {
  std::vector<Tensor> inputs;
  std::vector<Buffer> input_buffers, output_buffers;  // of the body: one per input, one per result
  Stmt body;
  AttrMap attrs = {};
};

/// The tensors that `spec.body` stores into the output buffers: one for each, of its shape and dtype.  Raises
/// UserError if an input and its buffer differ in dtype or number of dimensions, or if there is no output.
std::vector<Tensor> external(std::string name, ExternSpec spec);

/// The tensors that `func` computes from `inputs`: the parameters that it only reads are the inputs, in
/// order; the others are the results.  Raises UserError if they do not fit.
std::vector<Tensor> extern_primfunc(const std::vector<Tensor>& inputs, const PrimFunc& func, std::string name,
                                    AttrMap attrs = {});

/// The shapes of `op`'s results in terms of the shapes of its inputs.
std::vector<Shape> output_shapes(const TeExternNode* op);
/// Calls `visit` with every variable in `op`'s body that neither the body nor one of its buffers defines.
void for_each_use(const TeExternNode* op, const std::function<void(const VarNode*)>& visit);
/// The block that create_prim_func makes: `op`'s body on the buffers of the function.
Stmt extern_block(const TeExternNode* op, std::string name, const std::vector<Buffer>& inputs,
                  const std::vector<Buffer>& outputs);

}  // namespace tilewright::te
