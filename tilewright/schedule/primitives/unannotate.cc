// unannotate: a hint on a block or loop goes.
#include "tilewright/schedule/core/annotations.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/support/near.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  std::string ann_key;
  static constexpr std::string_view kRequired[] = {"ann_key"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop", "what it is about"),
                      field<&Args::ann_key>("ann_key", "the name of the hint")};
  }
};

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block_or_loop];
  const TreeNode& node = state.node(id);
  const AttrMap& annotations = node.is_loop() ? node.loop()->annotations : node.block()->annotations;
  if (!annotations.contains(args.ann_key)) {
    std::vector<std::string_view> names;
    for (const AttrMap::Entry& entry : annotations) names.push_back(entry.first);
    UserError error = refuse(state, id, "{} {} has no annotation \"{}\"", node.is_loop() ? "loop" : "block",
                             node.name, args.ann_key);
    if (!names.empty()) error.help("{}", nearest_names_text(args.ann_key, names));
    throw error;
  }
  edit_annotations(state, id, [&](AttrMap& annotations) { annotations.erase(args.ann_key); });
}

}  // namespace

extern constinit const PrimitiveInfo unannotate_info = primitive<apply>("unannotate", R"(
Removes a hint from a block or loop.

block_or_loop  stays valid
ann_key        the name of the hint
Raises         UserError if there is no such hint.
)");
}  // namespace tilewright::schedule
