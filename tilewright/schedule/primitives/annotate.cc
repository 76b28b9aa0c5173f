// annotate: a hint on a block or loop.
#include "tilewright/schedule/core/annotations.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  std::string ann_key;
  ObjectRef ann_val;
  static constexpr std::string_view kRequired[] = {"ann_key"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop", "what it is about"),
                      field<&Args::ann_key>("ann_key", "the name of the hint"),
                      field<&Args::ann_val>("ann_val", "a number, a string, a list of them, or any node")};
  }
};

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block_or_loop];
  if (args.ann_key.empty()) throw refuse(state, id, "the name of an annotation is empty");
  edit_annotations(state, id, [&](AttrMap& annotations) { annotations.set(args.ann_key, args.ann_val); });
}

}  // namespace

extern constinit const PrimitiveInfo annotate_info = primitive<apply>("annotate", R"(
Adds a hint to a block or loop, or changes it.

    for i in range(n):    ->    for i in T.serial(n, annotations={ann_key: ann_val}):

block_or_loop  stays valid
ann_key        the name of the hint; what reads it gives it a meaning
ann_val        a number, a string, a list of them, or any node
)");
}  // namespace tilewright::schedule
