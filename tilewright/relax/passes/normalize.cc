// Converts graph functions to A-normal form and infers the type of every expression.
//   gv = R.add(R.exp(x), R.negative(x))
//   ->  gv1 = R.exp(x); gv2 = R.negative(x); gv = R.add(gv1, gv2)
// Programs that were parsed or built by a BlockBuilder are in this form already; programs built from nodes
// may not be.
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
    module_pass<run>("normalize", "Binds operands of calls to variables and infers all types.");

}  // namespace tilewright::relax
