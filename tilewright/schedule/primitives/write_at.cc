// write_at: one iteration of a loop copies what a block in it has written.
#include "tilewright/schedule/transforms/tile_copy.h"

namespace tilewright::schedule {
extern constinit const PrimitiveInfo write_at_info = primitive<copy_at<false>>("write_at", R"(
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
