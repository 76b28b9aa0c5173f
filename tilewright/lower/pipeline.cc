#include "tilewright/lower/pipeline.h"

#include "tilewright/analysis/empty_reductions.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/lower/passes/check_machine.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {
tir::PrimFunc simplify(const tir::PrimFunc& func) { return arith::simplify(func); }
}  // namespace

const std::vector<Step>& cpu_steps() {
  static const std::vector<Step> steps = {
      {"check_bounds", "accesses that are not proved to be in their buffers are checked, where asked for",
       check_bounds},
      {"check_sizes", "what indices need of the sizes of a call is asked at the start", check_sizes},
      {"lower_returns", "numbers that are returned are stored for the caller", lower_returns},
      {"lower_match_buffer", "views of regions become accesses of what they view", lower_match_buffer},
      {"init_empty_reductions", "reductions over nothing get their init", analysis::init_empty_reductions},
      {"lower_init", "inits of reductions run at their start", lower_init},
      {"place_allocations", "buffers are allocated where they are used", place_allocations},
      {"lower_blocks", "blocks become loops with guards", lower_blocks},
      {"simplify", "expressions are simplified under loop ranges", simplify},
      {"compact_buffers", "each buffer is only as large as its touched region", compact_buffers},
      {"interleave_virtual_threads", "virtual threads take turns", interleave_virtual_threads},
      {"double_buffer", "memory is filled a turn ahead, where asked for", double_buffer},
      {"partition_loops", "guards that only the last iterations need leave the others", partition_loops},
      {"flatten_buffers", "A[i, j] becomes A[i * 128 + j]", flatten_buffers},
      {"pack_elements", "integers of less than 8 bits become parts of bytes", pack_elements},
      {"share_storage", "buffers that do not live at the same time share memory", share_storage},
      {"unswitch_loops", "choices that all copies of a body share are made before them", unswitch_loops},
      {"unroll_loops", "unrolled loops become copies", unroll_loops},
      {"simplify_copies", "guards that hold in a copy go", simplify},
      {"spell_out_calls", "functions that machines lack are spelled out", spell_out_calls},
      {"vectorize_loops", "vectorized loops become vector expressions", vectorize_loops},
      {"widen_floats", "floats of 8 and 16 bits are computed in float32", widen_floats_except_float16},
      {"simplify_flat", "flat indices are simplified", simplify},
      {"whole_registers", "lanes of registers that hold nothing need no mask", whole_registers},
      {"hoist_expression", "what no turn of a loop changes is decided before it", hoist_expression},
      {"remove_no_op", "statements that compute nothing are gone", remove_no_op},
  };
  return steps;
}

const std::vector<Step>& c_steps() {
  static const std::vector<Step> steps = [] {
    std::vector<Step> kept;
    for (const Step& step : cpu_steps()) {
      if (step.name == "vectorize_loops") {
        kept.push_back({"narrow_indices", "int64 becomes int32 where all values fit", narrow_indices});
        kept.push_back(
            {"scalarize_vectors", "vector expressions become loops over lanes", scalarize_vectors});
      } else if (step.name == "widen_floats") {
        kept.push_back({step.name, step.doc, widen_floats});
      } else if (step.name != "unroll_loops") {
        kept.push_back(step);
      }
    }
    kept.push_back(
        {"common_subexpr_elim", "what is computed several times is computed once", common_subexpr_elim});
    return kept;
  }();
  return steps;
}

namespace {
// What loops and blocks annotate with `key`, each text once.
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

ir::IRModule lower(const std::vector<Step>& steps, const std::string& name, const tir::PrimFunc& func,
                   const StepObserver& observe) {
  tir::PrimFunc lowered = func;
  try {
    require_code_for_cpu(func);
    for (const Step& step : steps) {
      lowered = step.run(lowered);
      if (observe) observe(step, lowered);
    }
  } catch (Error& error) {
    error.add_prefix(name);
    throw;
  }
  ir::IRModule module = split_functions(name, lowered);
  module = with_imports(module, kImportLlvm, imported(func, "pragma_import_llvm", "LLVM IR"));
  return with_imports(module, kImportC, imported(func, "pragma_import_c", "C"));
}
}  // namespace

ir::IRModule lower_for_cpu(const std::string& name, const tir::PrimFunc& func, const StepObserver& observe) {
  return lower(cpu_steps(), name, func, observe);
}

ir::IRModule lower_for_c(const std::string& name, const tir::PrimFunc& func, const StepObserver& observe) {
  ir::IRModule module = lower(c_steps(), name, func, observe);
  if (module->attrs.contains(kImportLlvm))
    throw Unsupported("{}: LLVM IR (pragma_import_llvm) cannot be part of C code", name)
        .help("build it with target llvm");
  return module;
}

}  // namespace tilewright::lower
