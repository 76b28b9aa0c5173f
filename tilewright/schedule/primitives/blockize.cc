// blockize: a loop nest, or blocks, become a block that works on a tile.
#include "tilewright/schedule/transforms/blockize.h"

#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {
namespace {

struct Args {
  TileTarget target;
  bool preserve_unit_iters = true;
  static constexpr std::string_view kRequired[] = {"target"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::target>("target", "the outermost loop of the tile, or blocks one after the other"),
        field<&Args::preserve_unit_iters>("preserve_unit_iters", "give the new block axes of extent 1 too")};
  }
};

BlockRef apply(State& state, const Args& args) {
  if (const auto* refs = std::get_if<std::vector<BlockRef>>(&args.target.which)) {
    std::vector<NodeId> blocks;
    for (BlockRef ref : *refs) blocks.push_back(state[ref]);
    if (blocks.empty()) throw UserError("no blocks are given");
    const Enclosed result = enclosed(state, blocks, args.preserve_unit_iters);
    state.replace(result.around, result.stmt, result.forwarded);
    return state.new_block_ref(state.find(result.block.get(), result.around));
  }
  const NodeId loop = state[std::get<LoopRef>(args.target.which)];
  const Blockized result = blockized(state, loop, args.preserve_unit_iters);
  const NodeId parent = state.node(loop).parent;
  state.replace(loop, result.outer, {{result.before, result.inner}});
  return state.new_block_ref(state.find(result.outer->block.get(), parent));
}

}  // namespace

extern constinit const PrimitiveInfo blockize_info = primitive<apply>("blockize", R"(
Makes a block of a loop nest: its axes say which tile, the block inside works within the tile.

    for i0, i1 in T.grid(8, 16):              for i0 in range(8):
        with T.block("B"):                        with T.block("B_o"):
            vi = i0 * 16 + i1         ->              vi_o = i0
            B[vi] = A[vi] * 2                         for i1 in range(16):
                                                          with T.block("B"):
                                                              vi_i = i1
                                                              B[vi_o * 16 + vi_i] = A[vi_o * 16 + vi_i] * 2    blockize(i1)

target               the outermost loop of the tile, with one block and nothing else inside; or a list of blocks: the statements
                     from the first to the last become the body of the new block, whose axes are the loops around them
preserve_unit_iters  give the new block axes of extent 1 too
Returns              the new block; handles of the inner ones stay
Raises               UserError if an axis or the block's predicate mixes loops of the tile with loops outside, or if a block that
                     is not in the list stands among those that are.
)");
}  // namespace tilewright::schedule
