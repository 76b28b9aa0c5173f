// mma: a warp multiplies matrices whose elements its lanes hold (PTX ISA, "Matrix fragments for mma.m16n8k*"); and what
// fills and stores accumulators.
//
// A register of 32 bits has `pack` neighbours along k.  Lane 4 * g + t has, of A (16 x k), in register r row
// g + 8 * (r % 2) and columns pack * t + 4 * pack * (r / 2) on; of B (k x 8), in register r column g and rows
// pack * t + 4 * pack * r on; of C (16 x 8), at n row g + 8 * (n / 2) and column 2 * t + n % 2.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tilewright/analysis/interpreter/device_memory.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {
namespace {

struct Operand {
  std::string_view name;
  std::string_view dtype;    // of an element in memory
  bool ignores_low = false;  // tf32: the lowest 13 bits of a float32 do not count
};
constexpr Operand kOperands[] = {{"fp16", "float16"},      {"float16", "float16"},    {"bf16", "bfloat16"},
                                 {"bfloat16", "bfloat16"}, {"tf32", "float32", true}, {"int8", "int8"},
                                 {"uint8", "uint8"},       {"e4m3", "float8_e4m3fn"}, {"e5m2", "float8_e5m2"},
                                 {"fp32", "float32"},      {"float32", "float32"},    {"int32", "int32"}};

struct Shape {
  std::string_view name;
  int64_t k;
  int bits;  // of an element of A and B
};
constexpr Shape kShapes[] = {{"m16n8k4", 4, 32},   {"m16n8k8", 8, 32},  {"m16n8k8", 8, 16},
                             {"m16n8k16", 16, 16}, {"m16n8k16", 16, 8}, {"m16n8k32", 32, 8}};

struct Mma {
  Operand a, b, c;
  DataType a_dtype, b_dtype, c_dtype;
  int64_t k = 0, pack = 0;  // elements of a register
  int64_t size_a() const { return k / 2; }
  int64_t size_b() const { return k / 4; }
};
constexpr int64_t kSizeC = 4;

const Operand& operand(const DeviceCall& call, size_t n) {
  const auto found = std::find_if(std::begin(kOperands), std::end(kOperands),
                                  [&](const Operand& known) { return known.name == call.text(n); });
  if (found != std::end(kOperands)) return *found;
  throw Unsupported(call.call, "{}: the interpreter does not know elements of type {}", call.name,
                    call.text(n));
}

Mma mma_of(const DeviceCall& call) {
  Mma mma{operand(call, 3), operand(call, 4), operand(call, 5), {}, {}, {}};
  mma.a_dtype = DataType::parse(mma.a.dtype), mma.b_dtype = DataType::parse(mma.b.dtype),
  mma.c_dtype = DataType::parse(mma.c.dtype);
  const auto shape = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& known) {
    return known.name == call.text(0) && known.bits == mma.a_dtype.bits;
  });
  const bool is_known = shape != std::end(kShapes) && mma.b_dtype.bits == mma.a_dtype.bits &&
                        mma.a_dtype.is_float() == mma.c_dtype.is_float() &&
                        mma.b_dtype.is_float() == mma.c_dtype.is_float();
  if (!is_known || call.text(1) != "row" || call.text(2) != "col")
    throw Unsupported(call.call, "{}: the interpreter does not know {} of {} {} and {} {} added to {}",
                      call.name, call.text(0), call.text(1), call.text(3), call.text(2), call.text(4),
                      call.text(5));
  mma.k = shape->k;
  mma.pack = 32 / mma.a_dtype.bits;
  return mma;
}

std::vector<Scalar> load_all(const DeviceCall& call, Frame& frame, size_t pointer, DataType dtype,
                             int64_t count) {
  const Bytes bytes = bytes_at(call, frame, pointer, pointer + 1, dtype, count);
  std::vector<char> data(static_cast<size_t>(bytes.size));
  read(call, frame, bytes, data.data());
  std::vector<Scalar> values;
  for (int64_t n = 0; n < count; ++n) values.push_back(load_element(data.data(), n * dtype.bits, dtype));
  return values;
}

void store_all(const DeviceCall& call, Frame& frame, const Bytes& bytes, DataType dtype,
               const std::vector<Scalar>& values) {
  std::vector<char> data(static_cast<size_t>(bytes.size));
  for (size_t n = 0; n < values.size(); ++n)
    store_element(data.data(), static_cast<int64_t>(n) * dtype.bits, dtype, values[n]);
  write(call, frame, bytes, data.data());
}

double without_low_bits(double value) {
  auto rounded = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  bits &= ~uint32_t{0x1FFF};
  std::memcpy(&rounded, &bits, sizeof bits);
  return rounded;
}

// c + the sum over k of A[row, k] * B[k, column]; `values` has A's and then B's elements of each lane.
Scalar product(const Mma& mma, const std::vector<std::vector<Scalar>>& values, int64_t row, int64_t column,
               Scalar c, bool saturates) {
  double sum = c.f;
  int64_t whole = c.i;
  for (int64_t k = 0; k < mma.k; ++k) {
    const int64_t part = k / (4 * mma.pack), place = k % (4 * mma.pack);
    const int64_t t = place / mma.pack, n = place % mma.pack;
    const int64_t in_a = (row / 8 + 2 * part) * mma.pack + n, in_b = mma.size_a() + part * mma.pack + n;
    const Scalar& a = values[static_cast<size_t>(row % 8 * 4 + t)][static_cast<size_t>(in_a)];
    const Scalar& b = values[static_cast<size_t>(column * 4 + t)][static_cast<size_t>(in_b)];
    if (!mma.c_dtype.is_float()) {
      whole += a.i * b.i;
      continue;
    }
    sum += mma.a.ignores_low ? without_low_bits(a.f) * without_low_bits(b.f) : a.f * b.f;
  }
  if (mma.c_dtype.is_float()) return float_scalar(round_to(sum, mma.c_dtype));
  return int_scalar(saturates ? std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX)
                              : tir::wrap_int(whole, mma.c_dtype));
}

// ptx_mma(shape, "row", "col", types of A, B and C, pointer and offset of each, saturates): C += A * B
CodePtr multiply(std::shared_ptr<const DeviceCall> call) {
  if (call->args.size() < 13)
    throw UserError(call->call, "{} takes 13 arguments, found {}", call->name, call->args.size());
  if (call->args.size() > 13)
    throw Unsupported(call->call, "{}: the interpreter does not know products of single bits", call->name);
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [mma = mma_of(*call), call](Frame& frame, Scalar* out) {
    *out = {};
    require_whole_warp(*call, frame);
    std::vector<Scalar> mine = load_all(*call, frame, 6, mma.a_dtype, mma.size_a());
    const std::vector<Scalar> of_b = load_all(*call, frame, 8, mma.b_dtype, mma.size_b());
    mine.insert(mine.end(), of_b.begin(), of_b.end());
    std::vector<Scalar> sums = load_all(*call, frame, 10, mma.c_dtype, kSizeC);
    const auto met = frame.group->meet(
        frame, WarpCall{call->where.get(), ~uint32_t{0}, kWarpSize, false, false, std::move(mine)});
    const int64_t lane = static_cast<int64_t>(frame.thread) % kWarpSize;
    const bool saturates = call->as_int(frame, 12) != 0;
    for (int64_t n = 0; n < kSizeC; ++n) {
      Scalar& sum = sums[static_cast<size_t>(n)];
      sum = product(mma, met->values, lane / 4 + n / 2 * 8, lane % 4 * 2 + n % 2, sum, saturates);
    }
    store_all(*call, frame, bytes_at(*call, frame, 10, 11, mma.c_dtype, kSizeC), mma.c_dtype, sums);
  });
}

// mma_fill(number of elements, pointer, offset): zeros
CodePtr fill(std::shared_ptr<const DeviceCall> call) {
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [call = std::move(call), element = dtype.element()](Frame& frame, Scalar* out) {
    *out = {};
    const int64_t count = call->as_int(frame, 0);
    const std::vector<Scalar> zeros(static_cast<size_t>(std::max<int64_t>(count, 0)),
                                    element.is_float() ? float_scalar(0) : int_scalar(0));
    store_all(*call, frame, bytes_at(*call, frame, 1, 2, element, count), element, zeros);
  });
}

// mma_store(rows, columns, to, from, offset, stride of a row): the accumulators of 16 x 8 matrices side by side
CodePtr store(std::shared_ptr<const DeviceCall> call) {
  const DataType dtype = call->call->dtype;
  return lanes_code(dtype, [call = std::move(call), element = dtype.element()](Frame& frame, Scalar* out) {
    *out = {};
    const int64_t rows = call->as_int(frame, 0), columns = call->as_int(frame, 1),
                  stride = call->as_int(frame, 5);
    if (rows != 16 || columns < 8 || columns % 8 != 0)
      throw UserError(call->where->node, "{} stores 16 rows of a multiple of 8 columns, found {} x {}{}",
                      call->name, rows, columns, call->where->at(frame));
    require_whole_warp(*call, frame);
    const std::vector<Scalar> mine = load_all(*call, frame, 3, element, columns / 2);
    Scalar to;
    call->args[2]->lanes(frame, &to);
    const int64_t lane = static_cast<int64_t>(frame.thread) % kWarpSize, size = element.num_bytes();
    for (int64_t n = 0; n < columns / 2; ++n) {
      const int64_t row = lane / 4 + n % 4 / 2 * 8, column = n / 4 * 8 + lane % 4 * 2 + n % 2;
      Scalar place = to;
      place.i += (row * stride + column) * size;
      store_all(*call, frame, bytes_at(*call, frame, place, size, 1), element,
                {mine[static_cast<size_t>(n)]});
    }
  });
}

constexpr DeviceOp kOps[] = {{"ptx_mma", multiply}, {"mma_fill", fill}, {"mma_store", store}};

}  // namespace

extern constinit const DeviceOps ptx_mma_info = {kOps};

}  // namespace tilewright::analysis
