// Fast without tuning: schedules chosen by rules from the shape of a computation and the features.
// A rule emits ordinary primitives, so the trace can be read, replayed, changed and tuned from.
#pragma once
#include <string>

#include "tilewright/schedule/default/reason.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/target/features.h"
#include "tilewright/target/gpu_features.h"

namespace tilewright::schedule {
using target::Features;

/// Nothing if nobody has scheduled `func`: every block stands alone in its own nest of serial loops, one loop
/// per axis, as te.create_prim_func and graph operators make it; a block may be a program of any kind without
/// blocks inside.  Else the reason that shows that somebody has.
std::optional<Reason> why_not_plain(const PrimFunc& func);

/// A rule tried on a block.
struct Attempt {
  std::string block, rule;
  std::optional<Reason> reason;  // why it does not apply; nothing: it was applied
  bool is_applied() const { return !reason; }
  /// False of a rule for other computations or machines, which short texts leave out.
  bool concerns_block() const { return is_applied() || reason->kind != Reason::kOther; }
};

/// The rule of an attempt that says why a function, named in the place of the block, is left as it is.
inline constexpr std::string_view kAnyRule = "any";

/// Runs the rules on function `func_name` of `sch` for a machine with `features`; the trace gets their steps.
/// A function that somebody has scheduled stays as it is.
///
/// Returns  what was tried, in order; a block that no rule takes stays as it is, and has the reason of each
///          that could have
std::vector<Attempt> schedule_by_rules(Schedule& sch, const std::string& func_name, const Features& features);

/// A function and the steps that made it.
struct DefaultSchedule {
  PrimFunc func;
  Trace trace;
  std::vector<Attempt> attempts;
};
/// The same for a function alone, which the trace calls `name`.
DefaultSchedule schedule_by_rules(const std::string& name, const PrimFunc& func, const Features& features);

/// Runs the rules for GPUs on function `func_name` of `sch`: every loop nest at its top becomes a kernel whose loops
/// are bound to blocks and threads.  A function that somebody has bound to threads stays as it is; of one that
/// somebody has scheduled otherwise, each nest runs in one thread.
///
/// Returns  what was tried, in order; no block is left without threads
std::vector<Attempt> schedule_for_gpu(Schedule& sch, const std::string& func_name,
                                      const target::GpuFeatures& features);
/// The same for a function alone, which the trace calls `name`.
DefaultSchedule schedule_for_gpu(const std::string& name, const PrimFunc& func,
                                 const target::GpuFeatures& features);

/// W[a, ..., k, ..., j]  ->  W[a, j // width, ..., k // group, ..., j % width, k % group] with one dimension
/// outside; without the last, and k as it is, if there are no groups.
struct PanelLayout {
  int64_t width = 0;  // of a panel of columns; 0: another layout is not wanted
  size_t column = 0;  // dimension j
  int64_t group = 1;
  size_t grouped = 0;  // dimension k
  size_t outside = 0;  // how many of the first dimensions stay before the panels
  bool operator==(const PanelLayout&) const = default;
};

/// A function some of whose parameters have another layout.
struct PackedWeights {
  PrimFunc func;
  /// For each parameter how it is to be passed; what the last panel lacks is not read.
  std::vector<PanelLayout> layouts;
};

/// `func` with the weights that its tiles read in panels stored as panels, so that they read memory from one
/// end to the other.
///
/// is_weight  for each parameter whether its layout is free; a layout pays only if it is made once
PackedWeights pack_weights(const PrimFunc& func, const std::vector<bool>& is_weight,
                           const Features& features);

}  // namespace tilewright::schedule
