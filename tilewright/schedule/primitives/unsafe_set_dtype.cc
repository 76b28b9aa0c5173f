// unsafe_set_dtype: a buffer holds elements of another type.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer_index;
  std::string dtype;
  static constexpr std::string_view kRequired[] = {"dtype"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "a block that writes the buffer"),
                      field<&Args::buffer_index>("buffer_index", "which of the buffers it writes"),
                      field<&Args::dtype>("dtype", "the new type of an element")};
  }
};

void apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.buffer_index, false).buffer;
  const DataType dtype = DataType::parse(args.dtype);
  if (dtype == buffer->dtype) return;
  if (!dtype.is_scalar() || dtype.is_handle())
    throw refuse(state, block, "a buffer cannot hold elements of type {}", args.dtype);
  const WrittenBuffer target = allocated(state, block, buffer);
  if (target.owner == kNoNode)
    throw refuse(state, block, "buffer {} is {}", buffer->name, where_from(state, block, buffer));
  require_element_access(state, target.owner, buffer);
  const Buffer changed = with(buffer, [&](BufferNode& n) {
    n.dtype = dtype;
    n.data = pointer_var(n.data->name_hint, dtype, n.scope());
  });
  replace_allocated_buffer(state, target, changed, {});
}

}  // namespace

extern constinit const PrimitiveInfo unsafe_set_dtype_info = primitive<apply>("unsafe_set_dtype", R"(
Lets a buffer that is allocated in the function hold elements of another type.  Values are rounded to it: whether the result is
still good enough is for the caller to know.

    B[vi] = A[vi] * 2        ->        B[vi] = T.Cast("float16", A[vi] * 2)
    C[vi] = B[vi] + 1                  C[vi] = T.Cast("float32", B[vi]) + 1         unsafe_set_dtype(B, 0, "float16")

block         a block that writes the buffer
buffer_index  which of the buffers it writes: its number, its name or the buffer
dtype         "float16", "int8", ...
Raises        UserError if the buffer is a parameter, or is also used through a view or its address.
)");
}  // namespace tilewright::schedule
