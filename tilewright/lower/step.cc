#include "tilewright/lower/step.h"

#include "tilewright/support/error.h"

namespace tilewright::lower {

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
    if (const Constructs gone = step->uses & ~left)
      throw InternalError("pipeline {}: {} works on {}, which is gone before it", pipeline.name, step->name,
                          constructs_text(gone));
    if (const Constructs there = step->without & left)
      throw InternalError("pipeline {}: {} takes programs without {}, which nothing before it removes",
                          pipeline.name, step->name, constructs_text(there));
    left = (left & ~step->ends) | step->makes;
  }
  if (const Constructs more = left & ~pipeline.takes)
    throw InternalError("pipeline {} leaves {}, for which there is no code", pipeline.name,
                        constructs_text(more));
}

}  // namespace tilewright::lower
