// One step of a lowering pipeline: the transformation, and the constructs it requires, removes and creates.
#pragma once
#include <string_view>
#include <vector>

#include "tilewright/ir/options.h"
#include "tilewright/ir/pass.h"
#include "tilewright/lower/constructs.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

struct Step {
  std::string_view name, doc;
  Constructs uses = kNothing;     // the constructs it works on, which must not be gone before it
  Constructs without = kNothing;  // must be gone before it
  Constructs ends = kNothing;     // gone after it
  Constructs makes = kNothing;    // may exist after it
  tir::PrimFunc (*run)(const tir::PrimFunc& func, const ir::AttrMap& options);
  std::vector<ir::OptionInfo> (*schema)() = &ir::option_schema<ir::NoOptions>;
  ir::AttrMap options = {};  // its options in this pipeline

  tir::PrimFunc operator()(const tir::PrimFunc& func) const { return run(func, options); }
};

/// Step::run for a pass without options: `PrimFunc kPass(const PrimFunc&)`.
template <auto kPass>
tir::PrimFunc without_options(const tir::PrimFunc& func, const ir::AttrMap& options) {
  ir::from_attrs<ir::NoOptions>(options, "this step");
  return kPass(func);
}

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
