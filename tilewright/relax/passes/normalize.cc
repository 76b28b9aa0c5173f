// Graph functions are in A-normal form, and every expression has its type.
//   gv = R.add(R.exp(x), R.negative(x))
//   ->  gv1 = R.exp(x); gv2 = R.negative(x); gv = R.add(gv1, gv2)
// Programs that were parsed or built by a BlockBuilder are so already; what was put together from nodes may
// not be.
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(
      module, [&](const Function& func) { return BlockBuilder(module).normalize_function(func); });
}

}  // namespace

extern constinit const PassInfo normalize_info =
    module_pass<run>("normalize", "Operands of calls are leaves, and every expression has its type.");

}  // namespace tilewright::relax
