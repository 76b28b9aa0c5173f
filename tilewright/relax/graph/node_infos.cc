// The field tables of the nodes in relax/.
#include "tilewright/ir/field_impl.h"
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {
void TensorTypeNode::verify() {
  if (const auto* known = shape.as<ShapeExprNode>()) ndim = static_cast<int64_t>(known->values.size());
}
}  // namespace tilewright::relax

namespace tilewright::ir {

TILEWRIGHT_NODE(relax, TensorType)
TILEWRIGHT_NODE(relax, ShapeType)
TILEWRIGHT_NODE(relax, CallableType)
TILEWRIGHT_NODE_AS(relax, RelaxVar, VarNode, "relax.Var")
TILEWRIGHT_NODE(relax, DataflowVar)
TILEWRIGHT_NODE(relax, Constant)
TILEWRIGHT_NODE_AS(relax, RelaxTuple, TupleNode, "relax.Tuple")
TILEWRIGHT_NODE(relax, TupleGetItem)
TILEWRIGHT_NODE(relax, ShapeExpr)
TILEWRIGHT_NODE(relax, PrimValue)
TILEWRIGHT_NODE(relax, StringValue)
TILEWRIGHT_NODE(relax, DataTypeValue)
TILEWRIGHT_NODE_AS(relax, RelaxCall, CallNode, "relax.Call")
TILEWRIGHT_NODE_AS(relax, RelaxIf, IfNode, "relax.If")
TILEWRIGHT_NODE(relax, SeqExpr)
TILEWRIGHT_NODE(relax, VarBinding)
TILEWRIGHT_NODE(relax, MatchCast)
TILEWRIGHT_NODE(relax, PlainBlock)
TILEWRIGHT_NODE(relax, DataflowBlock)
TILEWRIGHT_NODE_AS(relax, RelaxFunction, FunctionNode, "relax.Function")
TILEWRIGHT_NODE(relax, ExternFunc)

}  // namespace tilewright::ir
