// enter_postproc: a mark in the trace.
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {
namespace {

struct Args {
  static constexpr auto fields() { return std::tuple{}; }
};

void apply(State&, const Args&) {}

}  // namespace

extern constinit const PrimitiveInfo enter_postproc_info = primitive<apply>("enter_postproc", R"(
Marks where postprocessing begins: a trace can be replayed without what follows (Trace::without_postproc).  The program stays
as it is.
)");
}  // namespace tilewright::schedule
