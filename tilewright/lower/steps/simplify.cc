// The simplifier of integer expressions (arith/analyzer.h) as a step.
#include "tilewright/arith/analyzer.h"
#include "tilewright/lower/step.h"

namespace tilewright::lower {
namespace {

PrimFunc simplify(const PrimFunc& func) { return arith::simplify(func); }

}  // namespace

extern constinit const StepInfo simplify_info = {
    .name = "simplify",
    .doc = "expressions are simple under the ranges of loops",
    .run = without_options<simplify>,
};

}  // namespace tilewright::lower
