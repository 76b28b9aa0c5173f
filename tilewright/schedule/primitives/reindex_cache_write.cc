// reindex_cache_write: a block writes to a buffer laid out as a map says, from which the result is copied.
#include "tilewright/schedule/transforms/reindex.h"

namespace tilewright::schedule {
extern constinit const PrimitiveInfo reindex_cache_write_info =
    primitive<reindex_cache<false>>("reindex_cache_write", R"(
Makes a block write to a buffer in another storage scope, from which the result is copied; a map from the block's axes says
where an element is.

    B[vi, vj] = A[vi, vj] * 2    ->    B_local[vj, vi] = A[vi, vj] * 2
                                       B[v0, v1] = B_local[v1, v0]
                                                               reindex_cache_write(B, 0, "local", lambda i, j: (j, i))

block               writes one element of the buffer, at one place; its handle stays
write_buffer_index   which of the buffers it writes: its number, its name or the buffer
storage_scope       of the new buffer
index_map           takes all axes of the block; must be one to one on those that choose the element
Returns             the block that copies; it stands after the loops around `block` and has the axes that choose the element
Raises              UserError if the block writes several places of the buffer, if another block uses the
                    buffer inside of those loops, or writes it as well.
)");
}  // namespace tilewright::schedule
