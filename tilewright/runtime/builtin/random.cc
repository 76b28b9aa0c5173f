// Keys of random numbers that nobody gave a seed for.
#include <atomic>
#include <random>

#include "tilewright/runtime/builtin/builtin.h"

namespace tilewright::runtime::builtin {
namespace {

// the number of the call in the graph, which only keeps equal calls apart -> uint32[2]: a key that differs from process
// to process, and a stream that differs from call to call
Value random_key(Args) {
  static const uint32_t key = std::random_device()();
  static std::atomic<uint32_t> num_calls = 0;
  const uint32_t words[] = {key, num_calls++};
  return Tensor::copy_of(words, sizeof words, Shape{2}, DataType::uint(32));
}

constexpr Entry kEntries[] = {{"tilewright.random_key", random_key, 1}};

}  // namespace

std::span<const Entry> random_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
