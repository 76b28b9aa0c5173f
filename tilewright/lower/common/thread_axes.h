// Loops whose iterations run on the blocks and threads of a GPU.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The axes of a kernel, outermost first.
inline constexpr std::array<std::string_view, 6> kKernelAxes = {"blockIdx.z",  "blockIdx.y",  "blockIdx.x",
                                                                "threadIdx.z", "threadIdx.y", "threadIdx.x"};

/// The place of `tag` in kKernelAxes; nullopt for "vthread" and others.
std::optional<size_t> kernel_axis(std::string_view tag);
inline bool is_thread_axis(std::string_view tag) { return tag.starts_with("threadIdx."); }

/// The loop's axis in kKernelAxes; nullopt if it is bound to none.
inline std::optional<size_t> kernel_axis(const ForNode* loop) {
  return loop->for_kind == ForKind::kThreadBinding ? kernel_axis(loop->thread_tag) : std::nullopt;
}
/// The axis of T.launch_thread; null if `attr` is something else.
const IterVarNode* launched_axis(const AttrStmtNode* attr);

/// True if `stmt` has a loop that is bound to blocks or threads.
bool has_kernel(const Stmt& stmt);

/// True for memory that the threads of a block share.
inline bool is_shared(const Buffer& buffer) {
  return buffer->scope() == "shared" || buffer->scope() == "shared.dyn";
}

}  // namespace tilewright::lower
