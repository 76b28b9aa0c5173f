// read_at: one iteration of a loop copies what a block in it reads.
#include "tilewright/schedule/transforms/tile_copy.h"

namespace tilewright::schedule {
extern constinit const PrimitiveInfo read_at_info = primitive<copy_at<true>>("read_at", R"(
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
