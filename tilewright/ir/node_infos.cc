// The field tables of the nodes in ir/, and the source locations of nodes.
#include "tilewright/ir/field_impl.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"

namespace tilewright::ir {

TILEWRIGHT_NODE(ir, Array)
TILEWRIGHT_NODE(ir, Dict)
TILEWRIGHT_NODE(ir, Range)
TILEWRIGHT_NODE(ir, Target)
TILEWRIGHT_NODE(ir, IRModule)
TILEWRIGHT_NODE(ir, PrimType)
TILEWRIGHT_NODE(ir, PointerType)
TILEWRIGHT_NODE(ir, TupleType)
TILEWRIGHT_NODE(ir, ObjectType)
TILEWRIGHT_NODE(ir, IntImm)
TILEWRIGHT_NODE(ir, FloatImm)
TILEWRIGHT_NODE(ir, StringImm)
TILEWRIGHT_NODE(ir, Op)
TILEWRIGHT_NODE(ir, GlobalVar)

const Span& span_of_node(const Object& object) {
  static const Span unknown{};
  if (ExprNode::classof(object)) return static_cast<const ExprNode&>(object).span;
  if (StmtNode::classof(object)) return static_cast<const StmtNode&>(object).span;
  return unknown;
}

}  // namespace tilewright::ir
