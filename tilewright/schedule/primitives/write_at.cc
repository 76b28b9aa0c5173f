// write_at: one iteration of a loop copies what a block in it has written.
#include "tilewright/schedule/buffers.h"
#include "tilewright/schedule/primitive.h"
#include "tilewright/schedule/tile_copy.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  BlockRef block;
  BufferArg write_buffer_index;
  std::string storage_scope;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a loop around the block; each of its iterations copies"),
        field<&Args::block>("block", "what writes the buffer"),
        field<&Args::write_buffer_index>("write_buffer_index", "which of the buffers it writes"),
        field<&Args::storage_scope>("storage_scope",
                                    "of the new buffer: \"global\", \"local\", \"shared\", ...")};
  }
};

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.write_buffer_index, false).buffer;
  return state.new_block_ref(
      add_tile_copy(state, {state[args.loop], block, buffer, false, args.storage_scope}));
}

}  // namespace

extern constinit const PrimitiveInfo write_at_info = primitive<apply>("write_at", R"(
Lets `block` write to a new buffer, from which one iteration of `loop` copies what it has written.  The copy is one block with
annotation "auto_copy".

    for i in range(8):                  for i in range(8):
        for j in range(16):                 for j in range(16):
            C[i * 16 + j] =      ->             C_local[i * 16 + j] = A[i * 16 + j]
                A[i * 16 + j]               with T.block("C_local"):
                                                v0 = i
                                                for ax0 in range(16):
                                                    C[v0 * 16 + ax0] = C_local[v0 * 16 + ax0]   write_at(i, C, 0, "local")

loop                around `block`, in the same scope
block               writes the buffer; its handle stays
write_buffer_index   which of the buffers it writes: its number, its name or the buffer
storage_scope       of the new buffer
Returns             the block that copies
Raises              UserError if another block writes the buffer, if one inside of `loop` or before it reads it, or if elements may
                    stay unwritten.
)");
}  // namespace tilewright::schedule
