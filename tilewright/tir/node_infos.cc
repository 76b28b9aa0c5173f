// The field tables of the nodes in tir/.
#include "tilewright/ir/field_impl.h"
#include "tilewright/tir/tir.h"

namespace tilewright::ir {

template <>
struct EnumNames<tir::ForKind> {
  static constexpr std::string_view kNames[] = {"serial", "parallel", "vectorized", "unrolled",
                                                "thread_binding"};
};
template <>
struct EnumNames<tir::IterType> {
  static constexpr std::string_view kNames[] = {"spatial", "reduce", "scan", "opaque", "thread"};
};

TILEWRIGHT_NODE(tir, Var)
TILEWRIGHT_NODE(tir, Buffer)
TILEWRIGHT_NODE(tir, BufferRegion)
TILEWRIGHT_NODE(tir, MatchBufferRegion)
TILEWRIGHT_NODE(tir, IterVar)
TILEWRIGHT_NODE(tir, CommReducer)
TILEWRIGHT_NODE(tir, IndexMap)
TILEWRIGHT_NODE(tir, Cast)
TILEWRIGHT_NODE(tir, Add)
TILEWRIGHT_NODE(tir, Sub)
TILEWRIGHT_NODE(tir, Mul)
TILEWRIGHT_NODE(tir, Div)
TILEWRIGHT_NODE(tir, Mod)
TILEWRIGHT_NODE(tir, FloorDiv)
TILEWRIGHT_NODE(tir, FloorMod)
TILEWRIGHT_NODE(tir, Min)
TILEWRIGHT_NODE(tir, Max)
TILEWRIGHT_NODE(tir, EQ)
TILEWRIGHT_NODE(tir, NE)
TILEWRIGHT_NODE(tir, LT)
TILEWRIGHT_NODE(tir, LE)
TILEWRIGHT_NODE(tir, GT)
TILEWRIGHT_NODE(tir, GE)
TILEWRIGHT_NODE(tir, And)
TILEWRIGHT_NODE(tir, Or)
TILEWRIGHT_NODE(tir, Not)
TILEWRIGHT_NODE(tir, Select)
TILEWRIGHT_NODE(tir, BufferLoad)
TILEWRIGHT_NODE(tir, ProducerLoad)
TILEWRIGHT_NODE(tir, Ramp)
TILEWRIGHT_NODE(tir, Broadcast)
TILEWRIGHT_NODE(tir, Shuffle)
TILEWRIGHT_NODE(tir, Let)
TILEWRIGHT_NODE(tir, Call)
TILEWRIGHT_NODE(tir, Reduce)
#define STMT(Name) TILEWRIGHT_NODE(tir, Name)
#include "tilewright/ir/nodes.inc"
TILEWRIGHT_NODE(tir, PrimFunc)

}  // namespace tilewright::ir
