#include "tilewright/lower/lower.h"

#include <chrono>

#include "tilewright/ir/walk.h"
#include "tilewright/lower/functions/require_cpu.h"
#include "tilewright/lower/functions/split_functions.h"
#include "tilewright/lower/functions/split_kernels.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/lower/verify_step.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {
// The texts that loops and blocks carry in annotation `key`, each once.
std::vector<ir::ObjectRef> imported(const tir::PrimFunc& func, std::string_view key,
                                    std::string_view language) {
  std::vector<ir::ObjectRef> texts;
  auto take = [&](const ir::ObjectRef& value) {
    if (!value) return;
    const auto* text = value.as<ir::StringImmNode>();
    if (!text) throw UserError(func, "{}: expected the text of {}", key, language);
    for (const ir::ObjectRef& other : texts) {
      if (other.as<ir::StringImmNode>()->value == text->value) return;
    }
    texts.push_back(value);
  };
  ir::walk(
      func->body, [&](const tir::ForNode* loop) { take(loop->annotations.get(key)); },
      [&](const tir::BlockNode* block) { take(block->annotations.get(key)); },
      [&](const tir::AttrStmtNode* attr) {
        if (attr->attr_key == key) take(attr->value);
      });
  return texts;
}

ir::IRModule with_imports(const ir::IRModule& module, std::string_view attr,
                          std::vector<ir::ObjectRef> texts) {
  if (texts.empty()) return module;
  return with(module, [&](ir::IRModuleNode& n) {
    n.attrs.set(std::string(attr), ir::ArrayNode::make(std::move(texts)));
  });
}

// The program after all steps, each of them timed.
tir::PrimFunc after_steps(const Pipeline& pipeline, tir::PrimFunc func, const LowerOptions& options) {
  using Clock = std::chrono::steady_clock;
  Constructs allowed = kAnything;
  for (const Step* step : pipeline.steps()) {
    const Clock::time_point begin = Clock::now();
    tir::PrimFunc after = (*step)(func);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    const bool is_changed = after != func;
    allowed = step->left_of(allowed);
    if (options.verify) verify_step(*step, after, allowed);
    if (options.observe) options.observe(*step, after, {step->name(), taken.count(), is_changed});
    func = std::move(after);
  }
  return func;
}

ir::IRModule lower(const Pipeline& pipeline, const std::string& name, const tir::PrimFunc& func,
                   const KernelAbi& abi, const LowerOptions& options) {
  tir::PrimFunc lowered;
  try {
    require_code_for_cpu(func);
    lowered = after_steps(pipeline, func, options);
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
  ir::IRModule module = split_functions(name, lowered, abi);
  if (options.verify) verify_lowered(name, module);
  module = with_imports(module, kImportLlvm, imported(func, "pragma_import_llvm", "LLVM IR"));
  return with_imports(module, kImportC, imported(func, "pragma_import_c", "C"));
}
}  // namespace

ir::IRModule lower_for_cpu(const std::string& name, const tir::PrimFunc& func, const LowerOptions& options) {
  return lower(llvm_pipeline(), name, func, options.abi, options);
}

ir::IRModule lower_for_c(const std::string& name, const tir::PrimFunc& func, const LowerOptions& options) {
  ir::IRModule module = lower(c_pipeline(), name, func, KernelAbi{}, options);
  if (module->attrs.contains(kImportLlvm))
    throw Unsupported("{}: LLVM IR (pragma_import_llvm) cannot be part of C code", name)
        .help("build it with target llvm");
  return module;
}

ir::IRModule lower_for_gpu(std::string_view kind, const std::string& name, const tir::PrimFunc& func,
                           int32_t device_type, const LowerOptions& options) {
  ir::IRModule module;
  try {
    module = split_kernels(name, after_steps(gpu_pipeline(kind), func, options), options.abi, device_type);
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
  if (options.verify) verify_lowered(name, module);
  return module;
}

}  // namespace tilewright::lower
