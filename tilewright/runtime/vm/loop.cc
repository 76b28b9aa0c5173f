#include "tilewright/runtime/vm/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/runtime/packed_elements.h"
#include "tilewright/runtime/scalar.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {
namespace {

// Copies bytes to memory on the device of `from`.
void copy_bytes(void* to, const Tensor& from, int64_t num_bytes) {
  const Device device = from.device();
  if (num_bytes > 0)
    device_interface(device).copy(device.id, to, from.data(), static_cast<size_t>(num_bytes));
}

// The tensors that the iterations return for one output, written one after the other into memory that doubles
// when it is full.
class Collected {
 public:
  /// expected: the number of tensors, if it is known; else 0.
  Collected(Value empty, int64_t expected) : empty_(std::move(empty)), expected_(expected) {}

  void append(const Value& value, const std::string& what) {
    const Tensor given = value.as_tensor(what).to(Device::cpu()).compact();
    const Tensor tensor = shares_bytes(given.dtype()) ? unpack_elements(given) : given;
    if (!all_) begin(given, tensor);
    const bool is_same = given.dtype() == dtype_ && std::equal(given.shape().begin(), given.shape().end(),
                                                               all_.shape().begin() + 1, all_.shape().end());
    if (!is_same)
      throw UserError("{} is {} in iteration {}, but was {} before", what, type_str(given), count_,
                      type_str(first_));
    if (count_ == all_.shape()[0]) grow();
    copy_bytes(place(count_), tensor.to(all_.device()), num_bytes_);
    ++count_;
  }

  /// Raises UserError if there is none and nobody knows the type of none.
  Value result(const std::string& what) const {
    if (!all_ && empty_.is_none())
      throw UserError("{} has no iterations, and the type of its elements is not known", what)
          .help("give the body's result a dtype");
    if (!all_) return empty_;
    const Tensor filled = count_ == all_.shape()[0] ? all_ : all_.slice(0, 0, count_).copy();
    return shares_bytes(dtype_) ? pack_elements(filled, dtype_) : filled;
  }

 private:
  void begin(const Tensor& given, const Tensor& tensor) {
    constexpr int64_t kAtOnceBytes = int64_t{1} << 28;  // a model may state more iterations than it runs
    first_ = given;
    dtype_ = given.dtype();
    num_bytes_ = tensor.num_bytes();
    const int64_t most = std::max<int64_t>(kAtOnceBytes / std::max<int64_t>(num_bytes_, 1), 1);
    allocate(std::clamp<int64_t>(expected_, 1, most), tensor);
  }
  void allocate(int64_t count, const Tensor& element) {
    Shape shape(element.shape().begin(), element.shape().end());
    shape.insert(shape.begin(), count);
    all_ = Tensor::empty(shape, element.dtype(), element.device());
  }
  void grow() {
    const Tensor before = all_;
    Shape shape(before.shape().begin(), before.shape().end());
    shape[0] *= 2;
    all_ = Tensor::empty(shape, before.dtype(), before.device());
    copy_bytes(all_.data(), before, count_ * num_bytes_);
  }
  std::byte* place(int64_t n) const { return static_cast<std::byte*>(all_.data()) + n * num_bytes_; }

  Value empty_;
  int64_t expected_, count_ = 0, num_bytes_ = 0;
  DataType dtype_ = DataType::void_();
  Tensor first_, all_;
};

Tensor scalar_of(int64_t value) {
  const Tensor result = Tensor::empty({}, kInt64);
  *result.data_as<int64_t>() = value;
  return result;
}

// Sets `place` to the number of an iteration; in the same tensor, if the body has kept neither it nor a view.
void set_number(Value& place, int64_t value) {
  const TensorObject* tensor = place.tensor_object();
  const bool is_ours = tensor && tensor->refs.load(std::memory_order_acquire) == 1 &&
                       tensor->storage->refs.load(std::memory_order_acquire) == 1;
  if (is_ours)
    *static_cast<int64_t*>(tensor->dl.data) = value;
  else
    place = Value(scalar_of(value));
}

// The condition of the first iteration, as the body expects it: a tensor.
Value first_condition(const Value& given, const std::string& function) {
  if (given.tensor_object()) return given;
  const Tensor result = Tensor::empty({}, DataType::bool_());
  *result.data_as<uint8_t>() = given.is_none() || integer_of(given, function) != 0;
  return Value(result);
}

}  // namespace

Value run_loop(const Function& body, std::vector<Value> args, const std::string& function) {
  const auto num_carried = static_cast<size_t>(args[0].as_int()),
             num_collected = static_cast<size_t>(args[1].as_int());
  const bool has_condition = !args[3].is_none();
  const int64_t most =
      args[2].is_none() ? std::numeric_limits<int64_t>::max() : integer_of(args[2], function);
  const auto what = [&](size_t n) { return fmt::format("{}: output {} of a loop", function, n); };
  std::vector<Collected> collected;
  const auto first_carried = args.begin() + 4 + static_cast<std::ptrdiff_t>(num_collected);
  for (auto empty = args.begin() + 4; empty != first_carried; ++empty)
    collected.emplace_back(std::move(*empty), has_condition ? 0 : most);
  std::vector<Value> given{Value(), first_condition(args[3], function)};
  given.insert(given.end(), std::make_move_iterator(first_carried), std::make_move_iterator(args.end()));
  for (int64_t n = 0; n < most && (!has_condition || integer_of(given[1], function) != 0); ++n) {
    check_interrupt();
    set_number(given[0], n);
    const Value returned = body.call(given);
    const std::vector<Value>& fields = returned.as_tuple(function);
    if (fields.size() != 1 + num_carried + num_collected)
      throw UserError("{}: the body of a loop returns {}, expected {}", function,
                      count_text(fields.size(), "value"), 1 + num_carried + num_collected);
    std::copy_n(fields.begin(), 1 + num_carried, given.begin() + 1);
    for (size_t each = 0; each < num_collected; ++each)
      collected[each].append(fields[1 + num_carried + each], what(num_carried + each));
  }
  std::vector<Value> results(given.begin() + 2, given.begin() + 2 + static_cast<std::ptrdiff_t>(num_carried));
  for (size_t each = 0; each < num_collected; ++each)
    results.push_back(collected[each].result(what(num_carried + each)));
  return Value::tuple(std::move(results));
}

}  // namespace tilewright::runtime::vm
