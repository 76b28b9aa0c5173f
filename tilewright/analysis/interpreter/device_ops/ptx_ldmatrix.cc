// ldmatrix: a warp reads 1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory, and each lane gets two
// neighbours of each (PTX ISA, "Warp-level matrix load instruction: ldmatrix").
#include <algorithm>
#include <cstring>

#include "tilewright/analysis/interpreter/device_memory.h"
#include "tilewright/support/error.h"

namespace tilewright::analysis {
namespace {

constexpr int64_t kRowBytes = 16, kRows = 8;

// Lane 8 * m + r has the pointer of row r of matrix m.
void load_part(const DeviceCall& call, Frame& frame, const Scalar& row, int64_t first_byte, int64_t size,
               char* out) {
  const Bytes whole = bytes_at(call, frame, row, kRowBytes, kRowBytes);
  read(call, frame, {whole.memory, whole.begin + first_byte, size}, out);
}

// ptx_ldmatrix(transposed, number of matrices, ".b16", to, offset, from, offset)
CodePtr ldmatrix(std::shared_ptr<const DeviceCall> call) {
  if (call->args.size() != 7)
    throw UserError(call->call, "{} takes 7 arguments, found {}", call->name, call->args.size());
  if (call->text(2) != ".b16")
    throw Unsupported(call->call, "{}: the interpreter reads elements of type .b16, found {}", call->name,
                      call->text(2));
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [call = std::move(call), element = dtype.element()](Frame& frame, Scalar* out) {
    *out = {};
    const bool is_transposed = call->as_int(frame, 0) != 0;
    const int64_t count = call->as_int(frame, 1);
    if (count != 1 && count != 2 && count != 4)
      throw UserError(call->where->node, "{} reads 1, 2 or 4 matrices, found {}{}", call->name, count,
                      call->where->at(frame));
    require_whole_warp(*call, frame);
    Scalar row;
    call->args[5]->lanes(frame, &row);
    row.i += call->as_int(frame, 6) * element.num_bytes();
    const auto met =
        frame.group->meet(frame, WarpCall{call->where.get(), ~uint32_t{0}, kWarpSize, false, false, {row}});
    const int64_t lane = static_cast<int64_t>(frame.thread) % kWarpSize;
    std::vector<char> mine(static_cast<size_t>(count) * 4);
    for (int64_t matrix = 0; matrix < count; ++matrix) {
      const auto row_of = [&](int64_t n) { return met->values[static_cast<size_t>(matrix * kRows + n)][0]; };
      char* to = mine.data() + matrix * 4;
      if (is_transposed) {
        for (int64_t n = 0; n < 2; ++n)
          load_part(*call, frame, row_of(lane % 4 * 2 + n), lane / 4 * 2, 2, to + n * 2);
      } else {
        load_part(*call, frame, row_of(lane / 4), lane % 4 * 4, 4, to);
      }
    }
    write(*call, frame, bytes_at(*call, frame, 3, 4, element, count * 4 / element.num_bytes()), mine.data());
  });
}

constexpr DeviceOp kOps[] = {{"ptx_ldmatrix", ldmatrix}};

}  // namespace

extern constinit const DeviceOps ptx_ldmatrix_info = {kOps};

}  // namespace tilewright::analysis
