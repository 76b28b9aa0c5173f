// The init of reductions over nothing (analysis/empty_reductions.h) as a step.
#include "tilewright/analysis/empty_reductions.h"
#include "tilewright/lower/step.h"

namespace tilewright::lower {

extern constinit const StepInfo init_empty_reductions_info = {
    .name = "init_empty_reductions",
    .doc = "reductions over nothing have their init where it runs",
    .uses = kBlocks | kInits,
    .run = without_options<analysis::init_empty_reductions>,
};

}  // namespace tilewright::lower
