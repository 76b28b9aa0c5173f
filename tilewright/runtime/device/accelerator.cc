#include "tilewright/runtime/device/accelerator.h"

#include <utility>

#include "tilewright/support/format.h"

namespace tilewright::runtime {
namespace {

template <class Int>
Int integer_of_bytes(const KernelArgument& argument) {
  Int value;
  std::memcpy(&value, argument.bytes.data(), sizeof value);
  return value;
}

std::string argument_text(const KernelArgument& argument) {
  switch (argument.dtype.code) {
    case DataType::kInt:
    case DataType::kUInt:
    case DataType::kBool: {
      // bytes behind the value are 0
      const auto value = integer_of_bytes<uint64_t>(argument);
      if (argument.dtype.code != DataType::kInt) return fmt::format("{}", value);
      const int unused = 64 - argument.dtype.bits;
      return fmt::format("{}", static_cast<int64_t>(value << unused) >> unused);
    }
    case DataType::kFloat:
      if (argument.dtype.bits == 64) return fmt::format("{}", integer_of_bytes<double>(argument));
      if (argument.dtype.bits == 32) return fmt::format("{}", integer_of_bytes<float>(argument));
      break;
    default: break;
  }
  return argument.dtype.str();
}

std::string dims_text(const std::array<int64_t, 3>& dims) {
  return fmt::format("[{}, {}, {}]", dims[0], dims[1], dims[2]);
}

}  // namespace

std::string launch_text(Device device, const KernelLaunch& launch) {
  std::string text = "kernel " + *launch.symbol + "(";
  for (const KernelArgument& argument : launch.arguments)
    text += (text.back() == '(' ? "" : ", ") + argument_text(argument);
  text += fmt::format(") on {} with grid {} and block {}", device.str(), dims_text(launch.grid),
                      dims_text(launch.block));
  if (launch.dynamic_shared_bytes != 0)
    text += fmt::format(" and {} bytes of dynamic shared memory", launch.dynamic_shared_bytes);
  return text;
}

void LastLaunch::set(const KernelLaunch& launch) {
  std::lock_guard lock(mutex_);
  launch_ = launch;
  arguments_.assign(launch.arguments.begin(), launch.arguments.end());
  launch_.arguments = arguments_;
}

std::string LastLaunch::help(Device device) const {
  std::lock_guard lock(mutex_);
  if (!launch_.symbol) return {};
  return fmt::format(
      "the last launch was of {}; it or one before it failed: wait after each with device.sync() to see "
      "which",
      launch_text(device, launch_));
}

void*& current_stream_of(Device device) {
  thread_local std::vector<std::pair<Device, void*>> streams;
  for (auto& [of, stream] : streams) {
    if (of == device) return stream;
  }
  return streams.emplace_back(device, nullptr).second;
}

}  // namespace tilewright::runtime
