#include "tilewright/analysis/interpreter/device_memory.h"

#include <algorithm>

#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

// "bytes 16 to 31 of S".
std::string text(const Bytes& bytes) {
  return fmt::format("bytes {} to {} of {}", bytes.begin, bytes.begin + bytes.size - 1, bytes.memory->name);
}

void check_race(const DeviceCall& call, Frame& frame, const Bytes& bytes, bool is_write) {
  Memory& memory = *bytes.memory;
  if (!memory.pending.empty() && memory.is_pending(bytes.begin * 8, bytes.size * 8))
    frame.group->copies().fail_pending(
        memory, bytes.begin * 8, call.where->node,
        fmt::format("{}: {} are {}", call.name, text(bytes), is_write ? "written" : "read"),
        call.where->at(frame));
  if (!frame.program->options.check_races) return;
  bool was_write = false;
  const Parting part = memory.touch(bytes.begin * 8, bytes.size * 8, frame.strand, is_write, &was_write);
  if (!part) return;
  const Grid* grid = part.first->grid;
  if (!grid) grid = frame.thread_strand->grid;
  const bool are_threads = grid->axes.front().first.starts_with("threadIdx.");
  throw UserError(call.where->node, "{}: two {} touch {}{}: {} {} them, {} {} them{}", call.name,
                  are_threads ? "threads" : "blocks", text(bytes),
                  are_threads ? " with no barrier between" : "", runner_text(part.first_access, grid),
                  was_write ? "writes" : "reads", runner_text(part.second_access, grid),
                  is_write ? "writes" : "reads", call.where->at(frame));
}

}  // namespace

Bytes bytes_at(const DeviceCall& call, Frame& frame, const Scalar& pointer, int64_t size, int64_t alignment) {
  TILEWRIGHT_CHECK(pointer.memory, "{}: the pointer is null", call.name);
  const Bytes bytes{pointer.memory, pointer.i, size};
  if (bytes.begin < 0 || bytes.begin + size > bytes.memory->num_bytes)
    throw UserError(call.where->node, "{}: {} are outside of the memory, which has {} bytes{}", call.name,
                    text(bytes), bytes.memory->num_bytes, call.where->at(frame));
  if (bytes.begin % alignment != 0)
    throw UserError(call.where->node, "{}: {} do not begin at a multiple of {}{}", call.name, text(bytes),
                    alignment, call.where->at(frame));
  return bytes;
}

Bytes bytes_at(const DeviceCall& call, Frame& frame, size_t pointer, size_t offset, DataType dtype,
               int64_t num_elements, int64_t alignment) {
  Scalar place;
  call.args[pointer]->lanes(frame, &place);
  place.i += call.as_int(frame, offset) * dtype.num_bytes();
  return bytes_at(call, frame, place, num_elements * dtype.num_bytes(), alignment);
}

void read(const DeviceCall& call, Frame& frame, const Bytes& bytes, char* out) {
  check_race(call, frame, bytes, false);
  if (frame.program->options.check_uninitialised &&
      !bytes.memory->is_written(bytes.begin * 8, bytes.size * 8))
    throw UserError(call.where->node, "{}: {} are read before anything is written to them{}", call.name,
                    text(bytes), call.where->at(frame));
  std::copy_n(bytes.memory->data + bytes.begin, bytes.size, out);
}

void touch_for_write(const DeviceCall& call, Frame& frame, const Bytes& bytes) {
  if (bytes.memory->read_only)
    throw UserError(call.where->node, "{}: {} are written, but the argument is read only{}", call.name,
                    text(bytes), call.where->at(frame));
  check_race(call, frame, bytes, true);
}

void write(const DeviceCall& call, Frame& frame, const Bytes& bytes, const char* from) {
  touch_for_write(call, frame, bytes);
  bytes.memory->mark_written(bytes.begin * 8, bytes.size * 8);
  std::copy_n(from, bytes.size, bytes.memory->data + bytes.begin);
}

}  // namespace tilewright::analysis
