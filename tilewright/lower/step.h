// One step of a pipeline on loop programs: what it does, and which programs it takes and gives.
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
  Constructs uses = kNothing;     // must not be gone before it: it works on them
  Constructs without = kNothing;  // must be gone before it
  Constructs ends = kNothing;     // are gone after it
  Constructs makes = kNothing;    // may be there after it
  tir::PrimFunc (*run)(const tir::PrimFunc& func, const ir::AttrMap& options);
  std::vector<ir::OptionInfo> (*schema)() = &ir::option_schema<ir::NoOptions>;
  ir::AttrMap options = {};  // those of this pipeline

  tir::PrimFunc operator()(const tir::PrimFunc& func) const { return run(func, options); }
};

/// What Step::run is for a pass without options: `PrimFunc kPass(const PrimFunc&)`.
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

/// All that happens to a scheduled program for one kind of target.
struct Pipeline {
  std::string_view name;  // the kind of target: "llvm"
  std::vector<Group> groups;
  Constructs takes;  // what its code generator has code for

  std::vector<const Step*> steps() const;
};

/// Raises InternalError for a step at a place where what it works on is gone, or what it must not meet is
/// there, and for a pipeline that leaves more than its code generator takes.
void check_order(const Pipeline& pipeline);

}  // namespace tilewright::lower
