// A step of lowering: the transformation, and the constructs it requires, removes and creates.  The folder steps/ is
// the registry: each file defines `extern constinit const StepInfo <stem>_info`.
#pragma once
#include <string_view>
#include <vector>

#include "tilewright/ir/options.h"
#include "tilewright/ir/pass.h"
#include "tilewright/lower/constructs.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

struct StepInfo {
  std::string_view name;
  std::string_view doc;           // what is true after it; docs/lowering.md lists it
  Constructs uses = kNothing;     // the constructs it works on, which must not be gone before it
  Constructs without = kNothing;  // must be gone before it
  Constructs ends = kNothing;     // gone after it
  Constructs makes = kNothing;    // may exist after it
  tir::PrimFunc (*run)(const tir::PrimFunc& func, const ir::AttrMap& options);
  std::vector<ir::OptionInfo> (*schema)() = &ir::option_schema<ir::NoOptions>;
};

/// Made from the folder steps/.
extern const StepInfo* const k_steps[];
extern const std::size_t k_steps_count;
/// The step called `name`; raises InternalError if there is none.
const StepInfo& find_step(std::string_view name);

/// StepInfo::run for a step without options: `PrimFunc kStep(const PrimFunc&)`.
template <auto kStep>
tir::PrimFunc without_options(const tir::PrimFunc& func, const ir::AttrMap& options) {
  ir::from_attrs<ir::NoOptions>(options, "this step");
  return kStep(func);
}

/// A step at a place in a pipeline.
struct Step {
  const StepInfo* info;
  ir::AttrMap options = {};     // those of this pipeline
  Constructs keeps = kNothing;  // with these options, of what `info` says it ends
  std::string_view place = {};  // its name here, if this pipeline has the step at several places

  std::string_view name() const { return place.empty() ? info->name : place; }

  /// The constructs that may exist after it in programs with `before`.
  Constructs left_of(Constructs before) const { return (before & ~(info->ends & ~keeps)) | info->makes; }
  tir::PrimFunc operator()(const tir::PrimFunc& func) const { return info->run(func, options); }
};

/// Steps that belong together, read from top to bottom.
struct Group {
  std::string_view name, doc;
  std::vector<Step> steps;
};

/// All steps for one kind of target.
struct Pipeline {
  std::string_view name;  // the kind of target: "llvm"
  std::vector<Group> groups;
  Constructs takes;  // the constructs that its code generator supports

  std::vector<const Step*> steps() const;
};

/// Raises InternalError for a step whose constructs are gone before it or that meets constructs it does not
/// allow, and for a pipeline that leaves constructs its code generator does not support.
void check_order(const Pipeline& pipeline);

}  // namespace tilewright::lower
