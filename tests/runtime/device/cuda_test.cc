// CUDA devices on the emulation's driver, which runs only what somebody waits for, and whose memory the host cannot
// touch (tilewright/emulation).
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "../expect_error.h"
#include "launching.h"
#include "tilewright/runtime/tensor_copy.h"

namespace tilewright::runtime {
namespace {

constexpr Device kCuda{kDLCUDA, 0};
constexpr const char* kBehindKey = "000000000000000000000000000be111";
constexpr const char* kFailsKey = "0000000000000000000000000000fa11";

// Before any test asks for a device: which driver is loaded is decided once.
const bool is_emulated = setenv("TILEWRIGHT_CUDA_EMULATION", "1", 1) == 0 &&
                         setenv("TILEWRIGHT_EMULATED_CUDA_DEVICES", "2", 1) == 0;

std::string image_bytes() {
  std::ifstream file(TEST_EMULATED_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

DeviceCode small_code() {
  const DataType handle = DataType::handle();
  DeviceCode code;
  code.images = {{kDLCUDA, "cubin", "sm_80", "not for this one"},
                 {kDLCUDA, "cubin", "sm_90a", image_bytes()}};
  code.kernels = {{kAddKey, "add", {handle, handle, handle, kInt32}, {0, 1}},
                  {kReverseKey, "reverse", {handle}, {0, 1}},
                  {kBehindKey, "behind", {handle, kInt32}, {1}},
                  {kFailsKey, "fails", {}, {1}}};
  return code;
}

TEST(Cuda, TensorsGoThereAndBack) {
  const Tensor there = on_device(kCuda, counting(35), Shape{5, 7}, kFloat32);
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(elements<float>(there), counting(35));
  EXPECT_EQ(elements<float>(there.copy()), counting(35));
  EXPECT_EQ(elements<float>(there.slice(1, 2, 3)), (std::vector<float>{2, 9, 16, 23, 30}));
  EXPECT_EQ(elements<float>(there.to(Device{kDLCUDA, 1})), counting(35));
  EXPECT_EQ(elements<float>(Tensor::zeros(Shape{5, 7}, kFloat32, kCuda)), std::vector<float>(35));
  EXPECT_EQ(elements<float>(Tensor::empty(Shape{0}, kFloat32, kCuda)), std::vector<float>());
}

TEST(Cuda, TheHostCannotReadTheMemory) {
  const Tensor there = on_device(kCuda, counting(7), Shape{7}, kFloat32);
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(std::printf("%f", *static_cast<volatile float*>(there.data())), "");
}

TEST(Cuda, PropertiesOfTheDevice) {
  const DeviceProperties& properties = accelerator(kCuda, "test").properties(0);
  EXPECT_EQ(properties.name, "emulated GPU");
  EXPECT_EQ(properties.driver, "CUDA 13.0");
  EXPECT_EQ(properties.compute_version, "9.0");
  EXPECT_EQ(properties.multi_processor_count, 132);
  EXPECT_EQ(properties.max_threads_per_block, 1024);
  EXPECT_EQ(properties.warp_size, 32);
  EXPECT_EQ(properties.max_shared_memory_per_block, 48 * 1024);
  EXPECT_EQ(properties.max_dynamic_shared_memory_per_block, 227 * 1024);
  EXPECT_EQ(properties.max_thread_dimensions, (std::array<int64_t, 3>{1024, 1024, 64}));
  EXPECT_EQ(properties.max_grid_dimensions, (std::array<int64_t, 3>{INT32_MAX, 65535, 65535}));
  const int64_t before = accelerator(kCuda, "test").free_memory(0);
  const Tensor tensor = Tensor::empty(Shape{1 << 20}, kFloat32, kCuda);
  EXPECT_EQ(accelerator(kCuda, "test").free_memory(0), before - (4 << 20));
}

TEST(Cuda, WhatDoesNotFitOrIsNotThere) {
  EXPECT_ERROR(device_interface(Device{kDLCUDA, 7}),
               "error: there is no device cuda:7; this machine has 2 of kind cuda");
  EXPECT_ERROR(
      Tensor::empty(Shape{int64_t{1} << 40}, kFloat32, kCuda),
      "error: out of memory: cannot allocate 4398046511104 bytes on cuda:0: CUDA_ERROR_OUT_OF_MEMORY (out "
      "of memory)\nhelp: use smaller tensors, or release some");
  EXPECT_ERROR(accelerator(kCuda, "test").copy_to_host(0, nullptr, nullptr, 4, true),
               "error: cuda:0: cuMemcpyDtoHAsync failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

TEST(Cuda, CopiesThatNobodyWaitsFor) {
  const Device pinned{kDLCUDAHost, 0};
  const Tensor host = on_device(pinned, counting(7), Shape{7}, kFloat32),
               back = Tensor::zeros(Shape{7}, kFloat32);
  EXPECT_EQ(host.device(), pinned);
  EXPECT_EQ(elements<float>(host.copy()), counting(7));
  const Tensor there = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  copy_without_waiting(host, there);
  host.data_as<float>()[6] = 70;  // the copy has not begun
  copy_without_waiting(there, back);
  EXPECT_EQ(elements<float>(back), std::vector<float>(7));
  accelerator(kCuda, "test").synchronize(0, nullptr);
  EXPECT_EQ(elements<float>(back), (std::vector<float>{0, 1, 2, 3, 4, 5, 70}));
  for (int times = 0; times < 3; ++times) {
    // what it copies is kept until it is done
    copy_without_waiting(Tensor::copy_of(counting(7, 3).data(), 28, Shape{7}, kFloat32), there);
  }
  EXPECT_EQ(elements<float>(there), counting(7, 3));
  EXPECT_ERROR(copy_without_waiting(Tensor::zeros(Shape{5}, kFloat32), there),
               "error: copy: the source is float32[5], the target float32[7]");
  EXPECT_ERROR(
      Tensor::empty(Shape{int64_t{1} << 40}, kFloat32, pinned),
      "error: out of memory: cannot allocate 4398046511104 bytes on cuda_host:0: CUDA_ERROR_OUT_OF_MEMORY "
      "(out of memory)\nhelp: use smaller tensors, or release some");
}

TEST(Cuda, AKernelAddsTwoTensors) {
  const auto registered = register_device_code(small_code());
  const Tensor a = on_device(kCuda, counting(127), Shape{127}, kFloat32);
  const Tensor c = Tensor::zeros(Shape{127}, kFloat32, kCuda);
  launch(kCuda, kAddKey, {{4, 1, 1}, {32, 1, 1}}, {a, Value::pointer(a.data()), c, 127});
  launch(kCuda, kAddKey, {{4, 1, 1}, {32, 1, 1}}, {a, c, c, 127});
  std::vector<float> expected = counting(127);
  for (float& value : expected) value *= 3;
  EXPECT_EQ(elements<float>(c), expected);
  launch(kCuda, kAddKey, {{1, 0, 1}, {32, 1, 1}}, {a, a, a, 127});  // nothing is computed on an empty grid
  EXPECT_EQ(elements<float>(a), counting(127));
  // on the second device
  const Device second{kDLCUDA, 1};
  const Tensor there = on_device(second, counting(7), Shape{7}, kFloat32);
  launch(second, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {there, there, there, 7});
  EXPECT_EQ(elements<float>(there), (std::vector<float>{0, 2, 4, 6, 8, 10, 12}));
}

TEST(Cuda, SharedMemoryBeyondWhatEveryKernelMayHave) {
  const auto registered = register_device_code(small_code());
  std::vector<int32_t> values(2 * 1024), expected;
  std::iota(values.begin(), values.end(), 0);
  for (int n = 0; n < 2; ++n)
    expected.insert(expected.end(), values.rend() - (n + 1) * 1024, values.rend() - n * 1024);
  const Tensor a = on_device(kCuda, values, Shape{2 * 1024}, kInt32);
  launch(kCuda, kReverseKey, {{2, 1, 1}, {1024, 1, 1}, 227 * 1024}, {a});
  EXPECT_EQ(elements<int32_t>(a), expected);
  EXPECT_ERROR(
      launch(kCuda, kReverseKey, {{2, 1, 1}, {5, 1, 1}, 227 * 1024 + 1}, {a}),
      "error: kernel reverse(handle) on cuda:0 with grid [2, 1, 1] and block [5, 1, 1] and 232449 bytes of "
      "dynamic shared memory: 232449 bytes of dynamic shared memory, cuda:0 takes 0 to 232448\n"
      "help: use smaller tiles");
}

TEST(Cuda, EachErrorNamesTheLaunch) {
  const auto registered = register_device_code(small_code());
  const Tensor a = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  const std::string head = "error: kernel add(handle, handle, handle, 7) on cuda:0 with grid ";
  EXPECT_ERROR(launch(kCuda, kAddKey, {{1, 65536, 1}, {7, 1, 1}}, {a, a, a, 7}),
               head +
                   "[1, 65536, 1] and block [7, 1, 1]: blockIdx.y has 65536, cuda:0 takes 0 to 65535\n"
                   "help: bind the loop to another axis, or split it");
  EXPECT_ERROR(
      launch(kCuda, kAddKey, {{1, 1, 1}, {32, 33, 1}}, {a, a, a, 7}),
      head +
          "[1, 1, 1] and block [32, 33, 1]: 1056 threads are more than the 1024 that a block of cuda:0 "
          "may have\nhelp: bind smaller loops to threadIdx");
}

TEST(Cuda, AnImageThatDoesNotFit) {
  const Tensor a = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  const std::string head =
      "error: kernel add(handle, handle, handle, 7) on cuda:0 with grid [1, 1, 1] and block [7, 1, 1]: ";
  const auto attempt = [&](const DeviceCode& code) {
    const auto registered = register_device_code(code);
    launch(kCuda, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {a, a, a, 7});
  };
  DeviceCode code = small_code();
  code.images[1].arch = "sm_100a";
  EXPECT_ERROR(
      attempt(code),
      head +
          "the library has no code of it for this device (emulated GPU, compute capability 9.0); its "
          "images: cubin of sm_80, cubin of sm_100a\nhelp: compile it for this device, e.g. with the target "
          "that Target.from_device(\"cuda:0\") gives");
  code = small_code();
  code.images[1].bytes = "PTX";
  EXPECT_ERROR(
      attempt(code),
      head +
          "cuda:0 does not load the cubin image of sm_90a: CUDA_ERROR_INVALID_IMAGE (device kernel image is "
          "invalid)\nthe emulation runs what its own nvcc made");
  code = small_code();
  code.kernels[0].params[3] = kInt64;
  EXPECT_ERROR(attempt(code), head + "its parameter 4 has 4 bytes, in its description int64");
  code = small_code();
  code.kernels[0].symbol = "fails";
  EXPECT_ERROR(attempt(code),
               "error: kernel fails(handle, handle, handle, 7) on cuda:0 with grid [1, 1, 1] and block "
               "[7, 1, 1]: its code has 0 parameters, its description 4");
  code.kernels[0].symbol = "missing";
  EXPECT_ERROR(
      attempt(code),
      "error: kernel missing(handle, handle, handle, 7) on cuda:0 with grid [1, 1, 1] and block [7, 1, 1]: "
      "cuda:0: cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND (named symbol not found)");
}

// In a process of its own: a GPU whose kernel failed answers no call any more.
void wait_after(const char* key, const std::vector<Value>& arguments) {
  const auto registered = register_device_code(small_code());
  launch(kCuda, key, {{1, 1, 1}, {1, 1, 1}}, arguments);
  try {
    accelerator(kCuda, "test").synchronize(0, nullptr);
  } catch (const UserError& error) {
    std::fputs(error.render().c_str(), stderr);
  }
  std::_Exit(1);
}

TEST(Cuda, AKernelThatFailsIsNamedWhenSomebodyWaits) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(wait_after(kFailsKey, {}), testing::ExitedWithCode(1),
              testing::HasSubstr(
                  "emulated GPU: kernel fails failed\n"
                  "error: cuda:0: cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED (unspecified launch "
                  "failure)\nhelp: the last launch was of kernel fails() on cuda:0 with grid [1, 1, 1] and "
                  "block [1, 1, 1]; it or one before it failed: wait after each with device.sync() to see "
                  "which"));
  const Tensor a = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  EXPECT_EXIT(wait_after(kBehindKey, {a, 7}), testing::ExitedWithCode(1),
              testing::HasSubstr(
                  "emulated GPU: kernel behind wrote behind the end of a block of memory\n"
                  "error: cuda:0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
                  "memory access was encountered)\nhelp: the last launch was of kernel behind(handle, 7)"));
}

TEST(Cuda, StreamsAndEvents) {
  const auto registered = register_device_code(small_code());
  const Accelerator& device = accelerator(kCuda, "test");
  void* stream = device.create_stream(0);
  const Tensor a = on_device(kCuda, counting(7), Shape{7}, kFloat32),
               b = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  device.set_stream(0, stream);
  EXPECT_EQ(device.current_stream(0), stream);
  const auto begin = device.record_event(0);
  launch(kCuda, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {a, a, b, 7});
  const auto end = device.record_event(0);
  device.set_stream(0, nullptr);
  launch(kCuda, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {b, b, b, 7});  // waits for the other stream
  const double seconds = device.seconds_between(0, begin.get(), end.get());
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, 1);
  EXPECT_EQ(elements<float>(b), (std::vector<float>{0, 4, 8, 12, 16, 20, 24}));
  void* other = device.create_stream(0);
  device.wait_for_stream(0, other, stream);
  device.synchronize(0, other);
  device.free_stream(0, other);
  device.free_stream(0, stream);
}

TEST(Cuda, ATensorMayBeDroppedWhileWorkUsesIt) {
  const auto registered = register_device_code(small_code());
  const Tensor b = Tensor::zeros(Shape{7}, kFloat32, kCuda);
  for (int times = 0; times < 5; ++times) {
    const Tensor one = on_device(kCuda, std::vector<float>(7, 1), Shape{7}, kFloat32);
    launch(kCuda, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {one, b, b, 7});
  }
  EXPECT_EQ(elements<float>(b), std::vector<float>(7, 5));
}

TEST(Cuda, ThreadsLaunchAtTheSameTime) {
  const auto registered = register_device_code(small_code());
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (size_t n = 0; n < results.size(); ++n)
    threads.emplace_back([&, n] {
      results[n] = Tensor::zeros(Shape{7}, kFloat32, kCuda);
      const Tensor one = on_device(kCuda, std::vector<float>(7, static_cast<float>(n)), Shape{7}, kFloat32);
      for (int times = 0; times < 50; ++times)
        launch(kCuda, kAddKey, {{1, 1, 1}, {7, 1, 1}}, {results[n], one, results[n], 7});
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t n = 0; n < results.size(); ++n)
    EXPECT_EQ(elements<float>(results[n]), std::vector<float>(7, 50 * static_cast<float>(n)));
}

}  // namespace
}  // namespace tilewright::runtime
