// Replaces calls of loop programs that only change the shape by reshape, which copies nothing.
//   lv = R.call_tir(cls.view, (x,), out_sinfo=R.Tensor((2, 6), "float32"))   x: R.Tensor((3, 4), "float32")
//   ->  lv = R.reshape(x, R.shape([2, 6]))
// Only in dataflow blocks, where nothing writes into x or its view.  legalize_ops does not lower reshapes;
// this pass finds those that were loop programs from the start.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {

// The row-major position of an element, in the dtype of the indices, because casts would hide arithmetic.
PrimExpr flat(const std::vector<PrimExpr>& indices, const tir::Buffer& buffer) {
  if (indices.empty()) return extent_imm(0);
  PrimExpr position = indices[0];
  for (size_t axis = 1; axis < indices.size(); ++axis)
    position = position * tir::cast(position->dtype, buffer->shape[axis]) +
               tir::cast(position->dtype, indices[axis]);
  return position;
}

const tir::BlockNode* only_block(const tir::PrimFunc& func) {
  const tir::BlockNode* found = nullptr;
  int count = 0;
  walk(func->body, [&](const tir::BlockRealizeNode* realize) {
    if (realize->block->iter_vars.empty() && realize == func->body.get()) return;
    found = realize->block.get();
    ++count;
  });
  return count == 1 ? found : nullptr;
}

bool can_prove_same(arith::Analyzer& analyzer, const PrimExpr& a, const PrimExpr& b) {
  return analyzer.can_prove_equal(a, tir::cast(a->dtype, b));
}

// True if `func` writes element k of its input to element k of its output, for every k.
bool is_reshape(const tir::PrimFunc& func) {
  if (func->buffers.size() != 2 || !func->buffers[0] || !func->buffers[1]) return false;
  const tir::Buffer &from = func->buffers[0], &to = func->buffers[1];
  if (from->dtype != to->dtype || !from->strides.empty() || !to->strides.empty()) return false;
  const tir::BlockNode* block = only_block(func);
  const auto* store = block && !block->init ? block->body.as<tir::BufferStoreNode>() : nullptr;
  const auto* load = store ? store->value.as<tir::BufferLoadNode>() : nullptr;
  if (!load || load->buffer != from || store->buffer != to) return false;
  arith::Analyzer analyzer;
  size_t next = 0;
  for (const tir::IterVar& axis : block->iter_vars) {
    // one axis for each written dimension, covering all of it
    const bool covers = next < store->indices.size() && store->indices[next].get() == axis->var.get() &&
                        tir::is_zero(axis->dom->min) &&
                        can_prove_same(analyzer, axis->dom->extent, to->shape[next]);
    if (!covers || axis->iter_type != tir::IterType::kSpatial) return false;
    analyzer.bind(axis->var, axis->dom);
    ++next;
  }
  return next == store->indices.size() &&
         can_prove_same(analyzer, num_elements(from->shape), num_elements(to->shape)) &&
         can_prove_same(analyzer, flat(load->indices, from), flat(store->indices, to));
}

Function with_views(const IRModule& module, const Function& func) {
  std::unordered_map<const Object*, bool> known;
  const auto is_view = [&](const CallNode* call) {
    const auto* operands = call->args.size() == 2 ? call->args[1].as<TupleNode>() : nullptr;
    const auto* callee = operands ? call->args[0].as<GlobalVarNode>() : nullptr;
    if (!callee || operands->elements.size() != 1 || call->type_args.size() != 1) return false;
    const auto program = ref_as<tir::PrimFuncNode>(module->find(callee->name_hint));
    if (!program || !known_shape(call->type_args[0].as<TensorTypeNode>())) return false;
    auto [found, is_new] = known.try_emplace(program.get());
    if (is_new) found->second = is_reshape(program);
    return found->second;
  };
  const auto visit_call = [&](auto& self, const CallNode* node) -> Expr {
    const Call call = self.children(node);
    if (op_name(node) != "relax.call_tir" || !is_view(node)) return call;
    const Shape& shape = *known_shape(call->type_args[0].as<TensorTypeNode>());
    const Expr wanted = shape_expr(shape);
    const Call view =
        call_op("relax.reshape", {call->args[1].as<TupleNode>()->elements[0], wanted}, {}, call->span);
    return with(view, [&](CallNode& changed) { changed.type = call->type; });
  };
  return rewrite(func, [&](auto&, const DataflowBlockNode* block) -> DataflowBlock {
    return rewrite(DataflowBlock(block), visit_call);
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) { return with_views(module, func); });
}

}  // namespace

extern constinit const PassInfo rewrite_dataflow_reshape_info = module_pass<run>(
    "rewrite_dataflow_reshape", "Replaces loop programs that only reshape by R.reshape, without a copy.");

}  // namespace tilewright::relax
