// reindex_cache_read: a block reads a copy of a buffer, laid out as a map says.
#include "tilewright/schedule/transforms/reindex.h"

namespace tilewright::schedule {
extern constinit const PrimitiveInfo reindex_cache_read_info =
    primitive<reindex_cache<true>>("reindex_cache_read", R"(
Makes a block read a copy of a buffer in another storage scope; a map from the block's axes says where an element is.

    B[vi, vj] = A[vi, vj] * 2    ->    A_shared[v1, v0] = A[v0, v1]
                                       B[vi, vj] = A_shared[vj, vi] * 2
                                                               reindex_cache_read(B, 0, "shared", lambda i, j: (j, i))

block               reads one element of the buffer, at one place; its handle stays
read_buffer_index   which of the buffers it reads: its number, its name or the buffer
storage_scope       of the new buffer
index_map           takes all axes of the block; must be one to one on those that choose the element
Returns             the block that copies; it stands before the loops around `block` and has the axes that choose the element
Raises              UserError if the block reads several places of the buffer, if another block writes the buffer
                    inside of those loops.
)");
}  // namespace tilewright::schedule
