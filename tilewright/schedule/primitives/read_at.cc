// read_at: one iteration of a loop copies what a block in it reads.
#include "tilewright/schedule/buffers.h"
#include "tilewright/schedule/primitive.h"
#include "tilewright/schedule/tile_copy.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  BlockRef block;
  BufferArg read_buffer_index;
  std::string storage_scope;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::loop>("loop", "a loop around the block; each of its iterations copies"),
                      field<&Args::block>("block", "what reads the buffer"),
                      field<&Args::read_buffer_index>("read_buffer_index", "which of the buffers it reads"),
                      field<&Args::storage_scope>(
                          "storage_scope", "of the new buffer: \"global\", \"local\", \"shared\", ...")};
  }
};

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.read_buffer_index, true).buffer;
  return state.new_block_ref(
      add_tile_copy(state, {state[args.loop], block, buffer, true, args.storage_scope}));
}

}  // namespace

extern constinit const PrimitiveInfo read_at_info = primitive<apply>("read_at", R"(
Copies what `block` reads of a buffer while one iteration of `loop` runs, and lets it read the copy.  The copy is one block with
annotation "auto_copy".

    for i in range(8):                  for i in range(8):
        for j in range(16):                 with T.block("A_shared"):
            C[i * 16 + j] =      ->             v0 = i
                A[i * 16 + j]                   for ax0 in range(16):
                                                    A_shared[v0 * 16 + ax0] = A[v0 * 16 + ax0]
                                            for j in range(16):
                                                C[i * 16 + j] = A_shared[i * 16 + j]       read_at(i, C, 0, "shared")

loop                around `block`, in the same scope
block               reads the buffer; its handle stays
read_buffer_index   which of the buffers it reads: its number, its name or the buffer
storage_scope       of the new buffer
Returns             the block that copies
Raises              UserError if a block inside of `loop` writes the buffer.
)");
}  // namespace tilewright::schedule
