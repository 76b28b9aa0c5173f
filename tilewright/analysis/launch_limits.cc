#include "tilewright/analysis/launch_limits.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {
namespace {

using target::GpuFeatures;

// One axis of a kernel: the first loop over it.
struct Axis {
  std::string tag, loop;
  ObjectRef node;
  int64_t extent;  // 0: not a constant
};

/// What a kernel asks for.
struct Launch {
  std::vector<Axis> axes;
  std::vector<std::pair<std::string, int64_t>> shared, dynamic;  // buffers and their bytes

  void meet(const std::string& tag, const std::string& loop, const ObjectRef& node, const PrimExpr& extent) {
    const bool is_axis = tag.starts_with("blockIdx.") || tag.starts_with("threadIdx.");
    const bool is_known =
        std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.tag == tag; });
    if (!is_axis || is_known) return;
    int64_t value = 0;
    as_const_int(extent, &value);
    axes.push_back({tag, loop, node, value});
  }
  void meet(const Buffer& buffer) {
    if (!buffer->scope().starts_with("shared")) return;
    int64_t bytes = buffer->dtype.num_bytes();
    for (const PrimExpr& extent : buffer->shape) {
      int64_t value = 0;
      as_const_int(extent, &value);
      bytes *= value;
    }
    (buffer->scope() == "shared.dyn" ? dynamic : shared).emplace_back(buffer->name, bytes);
  }
};

Launch launch_of(const Stmt& kernel) {
  Launch launch;
  walk(
      kernel,
      [&](const ForNode* loop) {
        if (loop->for_kind == ForKind::kThreadBinding)
          launch.meet(loop->thread_tag, loop->loop_var->name_hint, ObjectRef(loop), loop->extent);
      },
      [&](const AllocBufferNode* alloc) { launch.meet(alloc->buffer); });
  return launch;
}

std::string axis_text(const Axis& axis) {
  return fmt::format("loop {} over {} has {}", axis.loop, axis.tag, axis.extent);
}

void check_threads(const Launch& launch, const GpuFeatures& gpu) {
  int64_t threads = 1;
  std::vector<std::string> texts;
  ObjectRef where;
  for (const Axis& axis : launch.axes) {
    if (!axis.tag.starts_with("threadIdx.")) continue;
    threads *= std::max<int64_t>(axis.extent, 1);
    texts.push_back(axis_text(axis));
    if (!where) where = axis.node;
    if (axis.tag == "threadIdx.z" && axis.extent > gpu.max_block_z)
      throw UserError(axis.node, "{} threads, but the target's max_block_z is {}", axis_text(axis),
                      gpu.max_block_z)
          .help("bind the loop to threadIdx.x, or split it");
  }
  if (threads > gpu.max_threads_per_block)
    throw UserError(where, "a block has {} threads, but the target's max_threads_per_block is {}: {}",
                    threads, gpu.max_threads_per_block, fmt::join(texts, ", "))
        .help("split the loops so that the product of their extents is at most {}",
              gpu.max_threads_per_block);
}

void check_grid(const Launch& launch, const GpuFeatures& gpu) {
  struct Limit {
    std::string_view tag, name;
    int64_t value;
  };
  for (const Limit& limit :
       {Limit{"blockIdx.x", "max_grid_x", gpu.max_grid_x}, Limit{"blockIdx.y", "max_grid_y", gpu.max_grid_y},
        Limit{"blockIdx.z", "max_grid_z", gpu.max_grid_z}}) {
    for (const Axis& axis : launch.axes) {
      if (axis.tag == limit.tag && axis.extent > limit.value)
        throw UserError(axis.node, "{} blocks, but the target's {} is {}", axis_text(axis), limit.name,
                        limit.value)
            .help("{}", limit.tag == "blockIdx.x" ? "split the loop and bind the outer part to blockIdx.y"
                                                  : "bind the loop to blockIdx.x");
    }
  }
}

void check_shared(const Launch& launch, const GpuFeatures& gpu) {
  const auto total_of = [](const auto& buffers) {
    int64_t total = 0;
    for (const auto& [name, bytes] : buffers) total += bytes;
    return total;
  };
  const auto text_of = [](const auto& buffers) {
    std::vector<std::string> texts;
    for (const auto& [name, bytes] : buffers) texts.push_back(fmt::format("{} has {}", name, bytes));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  const ObjectRef where = launch.axes.empty() ? ObjectRef() : launch.axes[0].node;
  const int64_t fixed = total_of(launch.shared), all = fixed + total_of(launch.dynamic);
  auto buffers = launch.shared;
  buffers.insert(buffers.end(), launch.dynamic.begin(), launch.dynamic.end());
  if (all > gpu.most_shared_bytes_per_block)
    throw UserError(
        where,
        "a block has {} bytes of shared memory, but the target's most_shared_bytes_per_block is {}: {}", all,
        gpu.most_shared_bytes_per_block, text_of(buffers))
        .help("make the tiles that are copied to shared memory smaller");
  if (fixed > gpu.shared_bytes_per_block)
    throw UserError(
        where, "a block has {} bytes of shared memory, but the target's shared_bytes_per_block is {}: {}",
        fixed, gpu.shared_bytes_per_block, text_of(launch.shared))
        .help("make the tiles smaller, or keep them in scope \"shared.dyn\": up to {} bytes",
              gpu.most_shared_bytes_per_block);
}

void check(const Stmt& kernel, const GpuFeatures& gpu) {
  const Launch launch = launch_of(kernel);
  check_threads(launch, gpu);
  check_grid(launch, gpu);
  check_shared(launch, gpu);
}

}  // namespace

void verify_launch_limits(const PrimFunc& func, const GpuFeatures& gpu) {
  walk(func->body, [&](const ForNode* loop) {
    const bool is_kernel =
        loop->for_kind == ForKind::kThreadBinding &&
        (loop->thread_tag.starts_with("blockIdx.") || loop->thread_tag.starts_with("threadIdx."));
    if (is_kernel) check(Stmt(loop), gpu);
    return !is_kernel;
  });
}

}  // namespace tilewright::analysis
