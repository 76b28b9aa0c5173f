// Translates statements to basic blocks.
#include <llvm/IR/MDBuilder.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::codegen {

FunctionEmitter::FunctionEmitter(ModuleEmitter& module, llvm::Function* function, const PrimFuncNode* func)
    : module_(module),
      function_(function),
      func_(func),
      context_(function->getContext()),
      builder_(context_) {
  i8_ = builder_.getInt8Ty();
  i32_ = builder_.getInt32Ty();
  i64_ = builder_.getInt64Ty();
  ptr_ = builder_.getPtrTy();
  llvm::FastMathFlags flags;
  for (const std::string& flag : module.target.fast_math) {
    if (flag == "reassoc") flags.setAllowReassoc();
    if (flag == "nnan") flags.setNoNaNs();
    if (flag == "ninf") flags.setNoInfs();
    if (flag == "nsz") flags.setNoSignedZeros();
    if (flag == "arcp") flags.setAllowReciprocal();
    if (flag == "afn") flags.setApproxFunc();
  }
  builder_.setFastMathFlags(flags);
}

void FunctionEmitter::run() {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  for (size_t n = 0; n < func_->params.size(); ++n) {
    values_[func_->params[n].get()] = function_->getArg(static_cast<unsigned>(n));
    // a parameter with a buffer is the address of the buffer's data
    if (func_->buffers[n])
      values_[func_->buffers[n]->data.get()] = function_->getArg(static_cast<unsigned>(n));
  }
  if (module_.target.least_register_bits > 0 &&
      func_->attrs.get_string(lower::kLoweredKind, "") == lower::kEntry)
    return_if_failed(builder_.CreateCall(module_.check_registers_function()));
  walk(func_->body, [&](const RampNode*) { has_vectors_ = true; });
  find_tile_nests();
  configure_tiles();
  emit(func_->body);
  if (!has_ended()) emit_return(builder_.getInt32(0));
}

llvm::BasicBlock* FunctionEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

void FunctionEmitter::branch_to(llvm::BasicBlock* target) {
  if (!has_ended()) builder_.CreateBr(target);
}

void FunctionEmitter::free_above(size_t depth) {
  for (size_t n = workspaces_.size(); n > depth; --n) workspace_free(workspaces_[n - 1]);
}

void FunctionEmitter::emit_return(llvm::Value* status) {
  free_above(0);
  release_tiles();
  builder_.CreateRet(status);
}

llvm::BranchInst* FunctionEmitter::branch_rarely(llvm::Value* condition, llvm::BasicBlock* rare,
                                                 llvm::BasicBlock* usual) {
  return builder_.CreateCondBr(condition, rare, usual,
                               llvm::MDBuilder(context_).createBranchWeights(1, 1 << 20));
}

void FunctionEmitter::return_if_failed(llvm::Value* status) {
  llvm::BasicBlock *failed = new_block("failed"), *next = new_block("next");
  branch_rarely(builder_.CreateICmpNE(status, builder_.getInt32(0)), failed, next);
  builder_.SetInsertPoint(failed);
  emit_return(builder_.getInt32(-1));
  builder_.SetInsertPoint(next);
}

void FunctionEmitter::emit(const Stmt& stmt) {
  if (has_ended()) return;  // after a return, break or continue
  if (left_out_.contains(stmt.get())) return;
  const auto refuse = [](const StmtNode* node) {
    throw InternalError("a {} was not lowered before code generation", info_of(*node)->name);
  };
  by_kind(
      stmt, [&](const BufferStoreNode* node) { emit_store(node); },
      [&](const ForNode* node) { emit_for(node); }, [&](const WhileNode* node) { emit_while(node); },
      [&](const IfThenElseNode* node) { emit_if(node); },
      [&](const SeqStmtNode* node) {
        for (const Stmt& item : node->seq) emit(item);
      },
      [&](const LetStmtNode* node) { emit_let_stmt(node); },
      [&](const AllocBufferNode* node) { emit_alloc(node); },
      [&](const DeclBufferNode* node) { emit(node->body); },
      [&](const AttrStmtNode* node) { emit(node->body); },
      [&](const AssertStmtNode* node) { emit_assert(node); },
      [&](const EvaluateNode* node) { emit(node->value); }, [&](const BlockNode* node) { refuse(node); },
      [&](const BlockRealizeNode* node) { refuse(node); });
}

void FunctionEmitter::emit_for(const ForNode* node) {
  if (node->for_kind == ForKind::kThreadBinding)
    throw UserError(node, "loop {} is bound to {}, which a CPU does not have", node->loop_var->name_hint,
                    node->thread_tag)
        .help("build for a GPU target, or use parallel instead of bind");
  TILEWRIGHT_CHECK(node->for_kind != ForKind::kParallel, "loop {} was not lowered before code generation",
                   node->loop_var->name_hint);
  if (const auto nest = tile_nests_.find(node); nest != tile_nests_.end())
    return emit_tile_nest(nest->second);
  const Prefetch outer_near = near_, outer_writes = writes_, outer_panel = next_panel_;
  const PanelIteration outer = panel_iteration_;
  emit_loop(node, [&] {
    begin_hints(node);
    emit(node->body);
  });
  near_ = outer_near;
  writes_ = outer_writes;
  next_panel_ = outer_panel;
  panel_iteration_ = outer;
}

// The test is at the bottom, so that the body is a single block that LLVM can vectorise or unroll.
void FunctionEmitter::emit_loop(const ForNode* node, const std::function<void()>& emit_body) {
  llvm::Value* begin = emit_index(node->min);
  llvm::Value* extent = emit_index(node->extent);
  const bool is_signed = node->loop_var->dtype.is_int();
  llvm::Value* end = builder_.CreateAdd(begin, extent, "end", false, is_signed);
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *body = new_block("loop"), *next = new_block("next"),
                   *exit = new_block("exit");
  llvm::Value* zero = llvm::ConstantInt::get(extent->getType(), 0);
  builder_.CreateCondBr(
      is_signed ? builder_.CreateICmpSGT(extent, zero) : builder_.CreateICmpNE(extent, zero), body, exit);
  builder_.SetInsertPoint(body);
  llvm::PHINode* counter = builder_.CreatePHI(begin->getType(), 2, node->loop_var->name_hint);
  counter->addIncoming(begin, before);
  values_[node->loop_var.get()] = counter;
  loops_.push_back({next, exit, workspaces_.size()});
  emit_body();
  loops_.pop_back();
  branch_to(next);
  builder_.SetInsertPoint(next);
  llvm::Value* following =
      builder_.CreateAdd(counter, llvm::ConstantInt::get(counter->getType(), 1), "", !is_signed, is_signed);
  counter->addIncoming(following, next);
  llvm::Value* again =
      is_signed ? builder_.CreateICmpSLT(following, end) : builder_.CreateICmpULT(following, end);
  llvm::BranchInst* latch = builder_.CreateCondBr(again, body, exit);
  hint_loop(latch, node);
  builder_.SetInsertPoint(exit);
}

// Disables LLVM's vectorisation of loops if a schedule chose vectors: LLVM would turn packing loops into
// shuffles, which takes seconds.
void FunctionEmitter::hint_loop(llvm::BranchInst* latch, const ForNode* node) {
  std::vector<llvm::Metadata*> hints{nullptr};
  const auto add = [&](std::vector<llvm::Metadata*> hint) {
    hints.push_back(llvm::MDNode::get(context_, hint));
  };
  const bool is_vectorized = node->for_kind == ForKind::kVectorized;
  if (is_vectorized || has_vectors_)
    add({llvm::MDString::get(context_, "llvm.loop.vectorize.enable"),
         llvm::ConstantAsMetadata::get(builder_.getInt1(is_vectorized))});
  if (node->annotations.get_bool(kKeepLoop, false))
    add({llvm::MDString::get(context_, "llvm.loop.unroll.disable")});
  if (hints.size() == 1) return;
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, hints);
  loop->replaceOperandWith(0, loop);
  latch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

void FunctionEmitter::emit_while(const WhileNode* node) {
  llvm::BasicBlock *test = new_block("while"), *body = new_block("body"), *exit = new_block("exit");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  builder_.CreateCondBr(emit(node->condition), body, exit);
  builder_.SetInsertPoint(body);
  loops_.push_back({test, exit, workspaces_.size()});
  emit(node->body);
  loops_.pop_back();
  branch_to(test);
  builder_.SetInsertPoint(exit);
}

llvm::Value* FunctionEmitter::emit_loop_control(std::string_view name) {
  if (loops_.empty())
    throw UserError("{} is outside of any loop", name == "break_loop" ? "break" : "continue");
  free_above(loops_.back().workspace_depth);
  builder_.CreateBr(name == "break_loop" ? loops_.back().exit : loops_.back().next);
  return nullptr;
}

void FunctionEmitter::emit_if(const IfThenElseNode* node) {
  llvm::Value* condition = emit(node->condition);
  llvm::BasicBlock *then_block = new_block("then"),
                   *else_block = node->else_case ? new_block("else") : nullptr, *done = new_block("done");
  // move code that only reports an error out of the way
  const auto* evaluate = node->then_case.as<EvaluateNode>();
  const auto* call = evaluate ? evaluate->value.as<CallNode>() : nullptr;
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  if (op && op->name == "tir.raise_error")
    branch_rarely(condition, then_block, else_block ? else_block : done);
  else
    builder_.CreateCondBr(condition, then_block, else_block ? else_block : done);
  builder_.SetInsertPoint(then_block);
  emit(node->then_case);
  branch_to(done);
  if (else_block) {
    builder_.SetInsertPoint(else_block);
    emit(node->else_case);
    branch_to(done);
  }
  builder_.SetInsertPoint(done);
}

void FunctionEmitter::emit_assert(const AssertStmtNode* node) {
  llvm::BasicBlock *failed = new_block("failed"), *next = new_block("next");
  branch_rarely(builder_.CreateNot(emit(node->condition)), failed, next);
  builder_.SetInsertPoint(failed);
  emit_return(builder_.CreateCall(module_.raise_function(),
                                  {module_.text("RuntimeError"), module_.text(node->message)}));
  builder_.SetInsertPoint(next);
}

void FunctionEmitter::emit_let_stmt(const LetStmtNode* node) {
  values_[node->var.get()] = emit(node->value);
  emit(node->body);
}

}  // namespace tilewright::codegen
