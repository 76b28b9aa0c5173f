"""Graphs and passes.

A model is a graph of operators. Passes rewrite it: each of them is one file, has a name and a level, and can be run by itself.
"""

import numpy as np

import tilewright
from tilewright import relax
from tilewright.script import ir as I
from tilewright.script import relax as R

# ## A graph
#
# The number of rows, n, is known only when the graph runs.


@I.ir_module
class Network:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), w: R.Tensor((7, 5), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            product = R.matmul(x, w)
            _unused = R.nn.relu(product)
            result = R.nn.relu(R.add(product, b))
            R.output(result)
        return result


# A value that nothing uses is no error; a pass drops it. Calling a pass gives another module:

clean = relax.transform.dead_code_elimination()(Network)
clean.show()

# ## Legalise and fuse
#
# `legalize_ops` replaces operators by calls of loop programs; `fuse_ops` and `fuse_tir` make one loop program of a chain.

loops = relax.transform.legalize_ops()(clean)
print([str(var.name_hint) for var in loops.get_global_vars()])
fused = relax.transform.fuse_tir()(relax.transform.fuse_ops()(loops))
fused["main"].show()

# ## The whole list
#
# `compile` runs the passes of its level in order ([graph passes](../graph-passes.md)). A context leaves passes out or gives them options.

with tilewright.transform.PassContext(opt_level=2, disabled_pass=["fuse_ops"]):
    apart = tilewright.compile(Network)
together = tilewright.compile(Network)
for name, executable in (("apart", apart), ("together", together)):
    calls = (
        tilewright.VirtualMachine(executable)
        .profile("main", np.ones((3, 7), "float32"), np.ones((7, 5), "float32"), np.ones(5, "float32"))
        .calls
    )
    print(name, sorted(call.name for call in calls))

# ## A pass of your own
#
# A visitor that changes the graph: `relax.PyExprMutator` visits each expression, `visit_call_` each call.


class SquareIsMultiply(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op.name == "relax.square":
            return relax.op.multiply(call.args[0], call.args[0])
        return call


@R.function
def squares(x: R.Tensor((5, 7), "float32")):
    return R.square(x)


print(SquareIsMultiply().visit_expr(squares))
