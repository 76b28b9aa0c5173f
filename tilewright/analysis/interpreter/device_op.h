// Operations of the threads of a kernel that no loop program can say: the registry, one file for each family in
// device_ops/, which defines `extern constinit const DeviceOps <stem>_info`.
#pragma once
#include <span>
#include <string_view>

#include "tilewright/analysis/interpreter/code.h"
#include "tilewright/analysis/interpreter/kernel.h"

namespace tilewright::analysis {

/// A call in a kernel, with its arguments compiled.
struct DeviceCall {
  const tir::CallNode* call;
  std::string_view name;      // without "tir."
  std::vector<CodePtr> args;  // null for texts
  SitePtr where;

  int64_t as_int(Frame& frame, size_t n) const { return args[n]->as_int(frame); }
  /// Argument `n`, which is a text.
  std::string_view text(size_t n) const;
};

struct DeviceOp {
  std::string_view name;  // of the builtin, without "tir."
  CodePtr (*code)(std::shared_ptr<const DeviceCall> call);
};

struct DeviceOps {
  std::span<const DeviceOp> ops;
};

/// Raises UserError if the warp of this thread has fewer than 32 threads.
void require_whole_warp(const DeviceCall& call, Frame& frame);

/// The operation of this name, or null.
const DeviceOp* find_device_op(std::string_view name);

}  // namespace tilewright::analysis
