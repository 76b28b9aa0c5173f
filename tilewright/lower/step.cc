#include "tilewright/lower/step.h"

#include "tilewright/support/error.h"

namespace tilewright::lower {

const StepInfo& find_step(std::string_view name) {
  for (size_t n = 0; n < k_steps_count; ++n) {
    if (k_steps[n]->name == name) return *k_steps[n];
  }
  throw InternalError("there is no lowering step \"{}\"", name);
}

std::vector<const Step*> Pipeline::steps() const {
  std::vector<const Step*> all;
  for (const Group& group : groups) {
    for (const Step& step : group.steps) all.push_back(&step);
  }
  return all;
}

void check_order(const Pipeline& pipeline) {
  Constructs left = kAnything;
  for (const Step* step : pipeline.steps()) {
    const StepInfo& info = *step->info;
    if (const Constructs gone = info.uses & ~left)
      throw InternalError("pipeline {}: {} works on {}, which is gone before it", pipeline.name, step->name(),
                          constructs_text(gone));
    if (const Constructs there = info.without & left)
      throw InternalError("pipeline {}: {} takes programs without {}, which nothing before it removes",
                          pipeline.name, step->name(), constructs_text(there));
    left = step->left_of(left);
  }
  if (const Constructs more = left & ~pipeline.takes)
    throw InternalError("pipeline {} leaves {}, for which there is no code", pipeline.name,
                        constructs_text(more));
}

}  // namespace tilewright::lower
