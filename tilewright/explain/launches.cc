#include "tilewright/explain/launches.h"

#include <algorithm>
#include <map>

#include "tilewright/analysis/warp_accesses.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/codegen/device/device.h"
#include "tilewright/driver/cuda_compiler.h"
#include "tilewright/driver/ptxas.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/support/error.h"
#include "tilewright/target/architectures.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"
#include "tilewright/tir/tir.h"

namespace tilewright::explain {
namespace {

using Usages = std::map<std::string, driver::PtxasUsage>;

// What ptxas says, for the first architecture of the target; none if it is not asked, or not there.
Usages usages_of(const ir::IRModule& lowered, const ir::Target& target, const RegisterSource& registers) {
  if (!registers.asks_ptxas) return {};
  if (target->kind_name != "cuda")
    throw UserError("ptxas knows the registers of target cuda, but the target is {}", target->kind_name)
        .help("leave it out");
  if (driver::find_nvcc().empty()) return {};
  const std::vector<std::string> architectures = target::cuda_architectures(target);
  return driver::ptxas_usage(codegen::emit_cuda({&lowered, 1}), architectures.empty()
                                                                    ? std::string(driver::kDefaultCudaArch)
                                                                    : architectures[0]);
}

void set_registers(const analysis::BlockSize& size, const Usages& usages, const RegisterSource& source,
                   bool is_cuda, Launch* launch) {
  const auto usage = usages.find(launch->kernel);
  if (usage != usages.end()) {
    launch->registers = usage->second.registers;
    launch->spilled_bytes = usage->second.spilled_bytes;
    // what a launch asks for is not in what ptxas sees
    launch->shared_bytes = std::max(launch->shared_bytes, usage->second.shared_bytes);
    launch->registers_text = fmt::format("{} registers a thread (by ptxas)", launch->registers);
  } else if (source.given) {
    launch->registers = *source.given;
    launch->registers_text = fmt::format("{} registers a thread", launch->registers);
  } else if (!is_cuda) {
    launch->registers_text = "registers not known";  // nor how many there are
  } else {
    launch->registers = size.estimated_registers();
    launch->registers_text = fmt::format("about {} registers a thread (estimated)", launch->registers);
  }
}

// "n x 4" of the extents up to the last that is not 1; "1" of none.
std::string product_text(const std::vector<std::string>& extents) {
  size_t count = extents.size();
  while (count > 1 && extents[count - 1] == "1") --count;
  std::string text;
  for (size_t n = 0; n < count; ++n) text += (n ? " x " : "") + extents[n];
  return text;
}

// Without the cast to the dtype of the loop.
std::string blocks_text(const tir::PrimExpr& extent, const Sizes& sizes) {
  if (!extent) return "1";
  if (const std::optional<int64_t> value = value_of(extent, sizes)) return std::to_string(*value);
  const auto* cast = extent.as<tir::CastNode>();
  return tir::expr_text(cast ? cast->value : extent);
}

}  // namespace

std::optional<int64_t> value_of(const ir::PrimExpr& expr, const Sizes& sizes) {
  ir::Substitution values;
  bool is_known = true;
  ir::walk(expr, [&](const tir::VarNode* var) {
    const auto size = sizes.find(var->name_hint);
    is_known &= size != sizes.end();
    if (is_known) values[var] = tir::make_const_int(var->dtype, size->second);
  });
  if (!is_known) return std::nullopt;
  arith::Analyzer analyzer;
  int64_t value = 0;
  return tir::as_const_int(analyzer.simplify(ir::substitute(expr, values)), &value) ? std::optional(value)
                                                                                    : std::nullopt;
}

std::vector<Launch> launches_of(const ir::IRModule& lowered, const ir::Target& target, const Sizes& sizes,
                                const RegisterSource& registers) {
  const target::GpuFeatures gpu = target::gpu_features_of(target).features;
  const Usages usages = usages_of(lowered, target, registers);
  std::vector<Launch> launches;
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    const ir::BaseFunc& func = lowered->functions[n];
    if (func->attrs.get_string(std::string(lower::kLoweredKind), "") != lower::kDeviceKernel) continue;
    const analysis::BlockSize size = analysis::block_size(ir::ref_as<tir::PrimFuncNode>(func));
    Launch launch;
    launch.kernel = lowered->global_vars[n]->name_hint;
    launch.blocks = 1;
    launch.threads = size.threads;
    launch.shared_bytes = size.shared_bytes;
    std::vector<std::string> grid, block;
    for (size_t axis = 0; axis < 3; ++axis) {
      grid.push_back(blocks_text(size.grid[axis], sizes));
      block.push_back(std::to_string(size.block[axis]));
      if (size.grid[axis]) launch.blocks *= value_of(size.grid[axis], sizes).value_or(0);
    }
    launch.grid = product_text(grid);
    launch.block = product_text(block);
    set_registers(size, usages, registers, target->kind_name == "cuda", &launch);
    launch.blocks_per_sm = gpu.blocks_per_sm(launch.threads, launch.registers, launch.shared_bytes);
    launch.occupancy = static_cast<double>(launch.blocks_per_sm * launch.threads) /
                       static_cast<double>(gpu.max_threads_per_sm);
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace tilewright::explain
