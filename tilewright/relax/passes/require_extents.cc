// States the requirements of operators on extents that are known only when the graph runs, so that they are
// checked before any loop program reads.
//   def main(x: R.Tensor(("n", "k")), w: R.Tensor((7, 3))):
//     lv = R.matmul(x, w)
//   ->  R.require(k == 7, "matmul: x1 is [n = {}, ..", n, ..)
//       lv = R.matmul(x, w)
// Later passes replace operators by others; the statements are not changed.
#include "tilewright/relax/infer/requirements.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

Function run(const Function& func, const NoOptions&) { return with_requirements(func); }

}  // namespace

extern constinit const PassInfo require_extents_info = function_pass<FunctionNode, run>(
    "require_extents", "States requirements on open extents, to be checked when the graph runs.");

}  // namespace tilewright::relax
