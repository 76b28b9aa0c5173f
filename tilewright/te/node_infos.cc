// The field tables of the nodes in te/.
#include "tilewright/ir/field_impl.h"
#include "tilewright/te/te.h"

namespace tilewright::ir {

TILEWRIGHT_NODE_AS(te, TeTensor, TeTensorNode, "te.Tensor")
TILEWRIGHT_NODE_AS(te, TePlaceholder, TePlaceholderNode, "te.Placeholder")
TILEWRIGHT_NODE_AS(te, TeCompute, TeComputeNode, "te.Compute")
TILEWRIGHT_NODE_AS(te, TeExtern, TeExternNode, "te.Extern")
TILEWRIGHT_NODE_AS(te, TeScan, TeScanNode, "te.Scan")

}  // namespace tilewright::ir
