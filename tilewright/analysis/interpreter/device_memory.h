// Memory that operations of the device reach through pointers, with the checks of loads and stores.
#pragma once
#include "tilewright/analysis/interpreter/device_op.h"

namespace tilewright::analysis {

/// Some bytes behind a pointer.
struct Bytes {
  Memory* memory = nullptr;
  int64_t begin = 0, size = 0;
};

/// `num_elements` of `dtype` from argument `pointer` of the call plus argument `offset`, in elements.  Raises UserError if
/// they are not in the memory, or if the first is no multiple of `alignment`.
Bytes bytes_at(const DeviceCall& call, Frame& frame, size_t pointer, size_t offset, DataType dtype,
               int64_t num_elements, int64_t alignment = 1);
/// The same for a pointer that is known.
Bytes bytes_at(const DeviceCall& call, Frame& frame, const Scalar& pointer, int64_t size, int64_t alignment);
/// Copies the bytes to `out`.  Raises UserError if they were not written, a copy to them is running or another thread
/// writes them.
void read(const DeviceCall& call, Frame& frame, const Bytes& bytes, char* out);
/// Checks that the thread may write the bytes now.
void touch_for_write(const DeviceCall& call, Frame& frame, const Bytes& bytes);
void write(const DeviceCall& call, Frame& frame, const Bytes& bytes, const char* from);

}  // namespace tilewright::analysis
