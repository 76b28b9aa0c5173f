// OpenCL devices, with kernels written by hand; skipped where no driver has a device.
#include <gmock/gmock.h>

#include <thread>

#include "../expect_error.h"
#include "launching.h"
#include "tilewright/runtime/scalar.h"
#include "tilewright/runtime/tensor_copy.h"
#include "tilewright/runtime/time_evaluator.h"

namespace tilewright::runtime {
namespace {

constexpr Device kOpencl{kDLOpenCL, 0};
constexpr const char* kSumKey = "00000000000000000000000000000511";

constexpr const char* kText = R"(
__kernel void add(__global const float* a, __global const float* b, __global float* c, int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
// each block turns the order of its elements around
__kernel void reverse(__global int* a, __local int* shared) {
  int i = get_local_id(0), n = get_local_size(0);
  shared[i] = a[get_group_id(0) * n + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_group_id(0) * n + i] = shared[n - 1 - i];
}
// what a launch is told: sizes in three dimensions, numbers of each type
__kernel void sum(__global float* out, char a, ushort b, long c, float d) {
  if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
    out[0] = a + b + c + d + get_global_size(0) * 1000 + get_global_size(1) * 100 + get_global_size(2) * 10;
}
)";

DeviceCode code_of(const std::string& text) {
  const DataType handle = DataType::handle();
  DeviceCode code;
  code.images.push_back({kDLOpenCL, "opencl", "", text});
  code.kernels = {{kAddKey, "add", {handle, handle, handle, kInt32}, {0}},
                  {kReverseKey, "reverse", {handle}, {0}},
                  {kSumKey, "sum", {handle, DataType::int_(8), DataType::uint(16), kInt64, kFloat32}, {0}}};
  return code;
}

class Opencl : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_interface(kOpencl);
    } catch (const UserError& error) {
      GTEST_SKIP() << error.render();
    }
  }
};

TEST_F(Opencl, TensorsGoThereAndBack) {
  const Tensor host = Tensor::copy_of(counting(35).data(), 35 * sizeof(float), Shape{5, 7}, kFloat32);
  const Tensor there = host.to(kOpencl);
  EXPECT_EQ(there.device(), kOpencl);
  EXPECT_EQ(elements<float>(there), counting(35));
  EXPECT_EQ(there.to(kOpencl), there);
  const Tensor copy = there.copy();
  EXPECT_NE(copy.data(), there.data());
  EXPECT_EQ(copy.device(), kOpencl);
  EXPECT_EQ(elements<float>(copy), counting(35));
  EXPECT_EQ(elements<float>(Tensor::zeros(Shape{5, 7}, kFloat32, kOpencl)), std::vector<float>(35));
  EXPECT_EQ(elements<float>(Tensor::empty(Shape{0, 7}, kFloat32, kOpencl)), std::vector<float>());
}

TEST_F(Opencl, CopiesThatNobodyWaitsFor) {
  const Tensor there = Tensor::zeros(Shape{7}, kFloat32, kOpencl), back = Tensor::zeros(Shape{7}, kFloat32);
  for (int times = 0; times < 3; ++times)
    copy_without_waiting(Tensor::copy_of(counting(7, 3).data(), 28, Shape{7}, kFloat32), there);
  copy_without_waiting(there, back);
  accelerator(kOpencl, "test").synchronize(0, nullptr);
  EXPECT_EQ(elements<float>(back), counting(7, 3));
  copy_without_waiting(back, there.slice(0, 0, 7));
}

TEST_F(Opencl, PartsOfATensorAreCopied) {
  const Tensor there = on_device(kOpencl, counting(35), Shape{5, 7}, kFloat32);
  EXPECT_EQ(elements<float>(there.slice(0, 1, 3)), counting(14, 7));
  EXPECT_EQ(elements<float>(there.slice(0, 5, 5)), std::vector<float>());
  EXPECT_EQ(elements<float>(there.slice(1, 2, 3)), (std::vector<float>{2, 9, 16, 23, 30}));
  const int axes[] = {1, 0};
  EXPECT_EQ(elements<float>(there.transpose(axes).slice(0, 0, 1)), (std::vector<float>{0, 7, 14, 21, 28}));
  // compact on the device: a copy, and then no copy
  const Tensor column = there.slice(1, 2, 3).compact();
  EXPECT_EQ(column.device(), kOpencl);
  EXPECT_EQ(elements<float>(column), (std::vector<float>{2, 9, 16, 23, 30}));
  EXPECT_EQ(column.compact(), column);
  // into a part, from the host and from the device
  there.slice(1, 0, 1).copy_from(Tensor::copy_of(counting(5, 100).data(), 20, Shape{5, 1}, kFloat32));
  there.slice(1, 1, 2).copy_from(column.reshape(Shape{5, 1}));
  EXPECT_EQ(elements<float>(there.slice(0, 0, 2)),
            (std::vector<float>{100, 2, 2, 3, 4, 5, 6, 101, 9, 9, 10, 11, 12, 13}));
}

TEST_F(Opencl, TheHostCannotReadTheMemory) {
  const Tensor there = on_device(kOpencl, counting(7), Shape{7}, kFloat32);
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(std::printf("%f", *static_cast<volatile float*>(there.data())), "");
}

TEST_F(Opencl, WhatDoesNotFitOrMatch) {
  EXPECT_ERROR(device_interface(Device{kDLOpenCL, 99}),
               fmt::format("error: there is no device opencl:99; this machine has {} of kind opencl",
                           device_interface(kOpencl).num_devices()));
  try {
    Tensor::empty(Shape{int64_t{1} << 50}, kFloat32, kOpencl);
    ADD_FAILURE() << "nothing was raised";
  } catch (const UserError& error) {  // drivers differ in their reason
    EXPECT_THAT(error.text(),
                testing::MatchesRegex("out of memory: cannot allocate 4503599627370496 bytes on "
                                      "opencl:0 .CL_[A-Z_]+."));
    EXPECT_EQ(error.help_text(), "use smaller tensors, or release some");
  }
  const Tensor host = Tensor::zeros(Shape{7}, kFloat32);
  EXPECT_ERROR(
      accelerator(kOpencl, "test").copy_to_host(0, host.data(), reinterpret_cast<void*>(0x1000), 4, true),
      "error: the address 0x1000 is not in memory of opencl:0\nhelp: copy the tensor there: x.to(device)");
  EXPECT_ERROR(accelerator(Device::cpu(), "test"), "error: test: cpu:0 is not a device beside the CPU");
  EXPECT_ERROR(
      get_function("tilewright.inverse")(Tensor::zeros(Shape{7, 7}, kFloat32, kOpencl), host, host, host),
      "error: tilewright.inverse: argument 1 is on opencl:0, and this function runs on the CPU\n"
      "help: copy it there: x.to(\"cpu\")");
}

TEST_F(Opencl, PropertiesOfTheDevice) {
  const DeviceProperties& properties = accelerator(kOpencl, "test").properties(0);
  EXPECT_NE(properties.name, "");
  EXPECT_TRUE(properties.driver.starts_with("OpenCL "));
  EXPECT_EQ(properties.compute_version.size(), 3u) << properties.compute_version;
  EXPECT_GE(properties.multi_processor_count, 1);
  EXPECT_GE(properties.max_threads_per_block, 128);
  EXPECT_GE(properties.max_shared_memory_per_block, 16 * 1024);
  EXPECT_GE(properties.total_global_memory, 1 << 20);
  EXPECT_GE(properties.memory_alignment, 1);
}

TEST_F(Opencl, AKernelAddsTwoTensors) {
  const auto registered = register_device_code(code_of(kText));
  const Tensor a = on_device(kOpencl, counting(127), Shape{127}, kFloat32);
  const Tensor b = on_device(kOpencl, counting(127, 0.5), Shape{127}, kFloat32);
  const Tensor c = Tensor::zeros(Shape{127}, kFloat32, kOpencl);
  launch(kOpencl, kAddKey, {{4, 1, 1}, {32, 1, 1}, 0},
         {Value::pointer(a.data()), Value::pointer(b.data()), c, 127});
  std::vector<float> expected(127);
  for (int n = 0; n < 127; ++n) expected[n] = 2 * static_cast<float>(n) + 0.5f;
  EXPECT_EQ(elements<float>(c), expected);
  // nothing is computed on an empty grid
  launch(kOpencl, kAddKey, {{0, 1, 1}, {32, 1, 1}, 0}, {a, b, a, 127});
  EXPECT_EQ(elements<float>(a), counting(127));
}

TEST_F(Opencl, ANumberIsReadWhereItIs) {
  EXPECT_EQ(integer_of(on_device<int32_t>(kOpencl, {7}, Shape{1}, kInt32), "count"), 7);
  EXPECT_ERROR(integer_of(on_device<int32_t>(kOpencl, {5, 7}, Shape{2}, kInt32), "count"),
               "error: count: int32[2] is not a single integer or bool");
}

TEST_F(Opencl, MemoryThatABlockShares) {
  const auto registered = register_device_code(code_of(kText));
  const Tensor a = on_device<int32_t>(kOpencl, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, Shape{2, 5}, kInt32);
  launch(kOpencl, kReverseKey, {{2, 1, 1}, {5, 1, 1}, 20}, {a});
  EXPECT_EQ(elements<int32_t>(a), (std::vector<int32_t>{4, 3, 2, 1, 0, 9, 8, 7, 6, 5}));
}

TEST_F(Opencl, NumbersAndSizesReachTheKernel) {
  const auto registered = register_device_code(code_of(kText));
  const Tensor out = Tensor::zeros(Shape{1}, kFloat32, kOpencl);
  launch(kOpencl, kSumKey, {{1, 2, 3}, {2, 1, 2}, 0}, {out, -3, 60000, -100000, 0.5});
  EXPECT_EQ(elements<float>(out), (std::vector<float>{-3 + 60000 - 100000 + 0.5f + 2000 + 200 + 60}));
}

TEST_F(Opencl, AnArgumentMayBePartOfATensor) {
  const auto registered = register_device_code(code_of(kText));
  const int64_t alignment = accelerator(kOpencl, "test").properties(0).memory_alignment;
  const int64_t rows = 3, columns = alignment / 4;
  const Tensor a = on_device(kOpencl, counting(rows * columns), Shape{rows, columns}, kFloat32);
  const Tensor row = a.slice(0, 1, 2);
  launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {row, row, row, 7});
  std::vector<float> expected = counting(7, static_cast<float>(columns));
  for (float& value : expected) value *= 2;
  EXPECT_EQ(elements<float>(row.slice(1, 0, 7)), expected);
  const Tensor end = a.slice(0, rows, rows);  // empty
  launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {end, end, end, 0});
  const Tensor part = a.slice(1, 5, 6);
  EXPECT_ERROR(
      launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {a, part, a, 7}),
      fmt::format("unsupported: kernel add(handle, handle, handle, 7) on opencl:0 with grid [1, 1, 1] and "
                  "block [7, 1, 1]: argument 2 begins 20 bytes into its memory, and opencl:0 takes only "
                  "multiples of {} there\nhelp: pass a copy of that part of the tensor",
                  alignment));
}

TEST_F(Opencl, EachErrorNamesTheLaunch) {
  const auto registered = register_device_code(code_of(kText));
  const Tensor a = Tensor::zeros(Shape{7}, kFloat32, kOpencl);
  const DeviceProperties& limits = accelerator(kOpencl, "test").properties(0);
  const auto with = [](const std::string& arguments, const char* grid, const std::string& block) {
    return "error: kernel add(" + arguments + ") on opencl:0 with grid " + grid + " and block " + block;
  };
  EXPECT_ERROR(launch(kOpencl, kAddKey, {{1, 1, 1}, {1, 1, 1}, 0}, {a, a}),
               "error: kernel add: got 11 arguments, expected 9 of the launch and 4 of the kernel "
               "(handle, handle, handle, int32)");
  EXPECT_ERROR(launch(kOpencl, kAddKey, {{1, 1, 1}, {1, 1, 1}, 0}, {a, a, a, int64_t{1} << 31}),
               "error: kernel add: argument 4 is 2147483648, which int32 cannot hold");
  EXPECT_ERROR(launch(kOpencl, kAddKey, {{1, 1, 1}, {1, 1, 1}, 0}, {a, a, a, 0.5}),
               "error: kernel add: argument 4 is a float, expected an int");
  EXPECT_ERROR(
      launch(kOpencl, kAddKey, {{1, 1, 1}, {1, 1, 1}, 0}, {a, Tensor::zeros(Shape{7}, kFloat32), a, 7}),
      "error: kernel add: argument 2 is on cpu:0, the kernel runs on opencl:0");
  EXPECT_ERROR(
      launch(kOpencl, kAddKey, {{1, 1, 1}, {0, 1, 1}, 0}, {a, a, a, 7}),
      with("handle, handle, handle, 7", "[1, 1, 1]", "[0, 1, 1]") +
          fmt::format(": threadIdx.x has 0, opencl:0 takes 1 to {}", limits.max_thread_dimensions[0]));
  EXPECT_ERROR(launch(kOpencl, kAddKey, {{1, -1, 1}, {1, 1, 1}, 0}, {a, a, nullptr, 7}),
               with("handle, handle, handle, 7", "[1, -1, 1]", "[1, 1, 1]") +
                   ": blockIdx.y has -1, opencl:0 takes 0 to 2147483647\n"
                   "help: bind the loop to another axis, or split it");
  const int64_t half = limits.max_threads_per_block / 2;
  EXPECT_ERROR(launch(kOpencl, kAddKey, {{1, 1, 1}, {half, 3, 1}, 0}, {a, a, a, 7}),
               with("handle, handle, handle, 7", "[1, 1, 1]", fmt::format("[{}, 3, 1]", half)) +
                   fmt::format(": {} threads are more than the {} that a block of opencl:0 may have\n"
                               "help: bind smaller loops to threadIdx",
                               3 * half, limits.max_threads_per_block));
  EXPECT_ERROR(
      launch(kOpencl, kReverseKey, {{1, 1, 1}, {7, 1, 1}, int64_t{1} << 40}, {a}),
      fmt::format("error: kernel reverse(handle) on opencl:0 with grid [1, 1, 1] and block [7, 1, 1] and "
                  "1099511627776 bytes of dynamic shared memory: 1099511627776 bytes of dynamic shared "
                  "memory, opencl:0 takes 0 to {}\nhelp: use smaller tiles",
                  limits.max_dynamic_shared_memory_per_block));
  launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 8}, {a, a, a, 7});  // its text declares what it shares
  EXPECT_ERROR(launch(Device{kDLVulkan, 0}, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {a, a, a, 7}),
               "unsupported: cannot run on device vulkan:0\nhelp: this build runs on cpu, cuda and opencl");
}

TEST_F(Opencl, AnImageThatDoesNotFit) {
  const Tensor a = Tensor::zeros(Shape{7}, kFloat32, kOpencl);
  const std::string head =
      "error: kernel add(handle, handle, handle, 7) on opencl:0 with grid [1, 1, 1] and block [7, 1, 1]: ";
  const auto attempt = [&](const DeviceCode& code) {
    const auto registered = register_device_code(code);
    launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {a, a, a, 7});
  };
  DeviceCode code = code_of(kText);
  code.kernels[0].params.push_back(kInt32);
  code.kernels[0].symbol = "sub";
  code.kernels[0].params.pop_back();
  EXPECT_ERROR(attempt(code),
               "error: kernel sub(handle, handle, handle, 7) on opencl:0 with grid [1, 1, 1] and block "
               "[7, 1, 1]: opencl:0: clCreateKernel failed: CL_INVALID_KERNEL_NAME");
  code = code_of("__kernel void add(__global float* a) {}");
  EXPECT_ERROR(attempt(code), head + "its text has 1 parameters, its description 4");
  code.images[0].device_type = kDLCUDA;
  code.images[0].format = "cubin";
  code.images[0].arch = "sm_80";
  EXPECT_ERROR(
      attempt(code),
      head + "the library has no code of it for this device (" +
          accelerator(kOpencl, "test").properties(0).name +
          "); its images: cubin of sm_80\nhelp: compile it for this device, e.g. with the target that "
          "Target.from_device(\"opencl:0\") gives");
  try {
    attempt(code_of("__kernel void add(__global float* a) { oops }"));
    ADD_FAILURE() << "nothing was raised";
  } catch (const UserError& error) {
    EXPECT_TRUE(
        error.text().starts_with(head.substr(7) + "the compiler of opencl:0 refuses the source text:\n"))
        << error.text();
    EXPECT_NE(error.text().find("oops"), std::string::npos) << error.text();
  }
}

TEST_F(Opencl, ThreadsLaunchAtTheSameTime) {
  const auto registered = register_device_code(code_of(kText));
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (size_t n = 0; n < results.size(); ++n)
    threads.emplace_back([&, n] {
      results[n] = Tensor::zeros(Shape{7}, kFloat32, kOpencl);
      const Tensor one = on_device(kOpencl, std::vector<float>(7, static_cast<float>(n)), Shape{7}, kFloat32);
      for (int times = 0; times < 50; ++times)
        launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {results[n], one, results[n], 7});
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t n = 0; n < results.size(); ++n)
    EXPECT_EQ(elements<float>(results[n]), std::vector<float>(7, 50 * static_cast<float>(n)));
}

TEST_F(Opencl, StreamsWaitForEachOther) {
  const auto registered = register_device_code(code_of(kText));
  const Accelerator& device = accelerator(kOpencl, "test");
  void* stream = device.create_stream(0);
  const Tensor a = on_device(kOpencl, counting(7), Shape{7}, kFloat32),
               b = Tensor::zeros(Shape{7}, kFloat32, kOpencl);
  launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {a, a, b, 7});
  device.wait_for_stream(0, stream, nullptr);
  device.set_stream(0, stream);
  EXPECT_EQ(device.current_stream(0), stream);
  launch(kOpencl, kAddKey, {{1, 1, 1}, {7, 1, 1}, 0}, {b, b, b, 7});
  device.synchronize(0, stream);
  device.set_stream(0, nullptr);
  std::vector<float> expected = counting(7);
  for (float& value : expected) value *= 4;
  EXPECT_EQ(elements<float>(b), expected);
  device.free_stream(0, stream);
}

TEST_F(Opencl, EventsMeasureTime) {
  const auto registered = register_device_code(code_of(kText));
  const Accelerator& device = accelerator(kOpencl, "test");
  const Tensor a = Tensor::zeros(Shape{1 << 20}, kFloat32, kOpencl);
  const auto begin = device.record_event(0);
  launch(kOpencl, kAddKey, {{1 << 14, 1, 1}, {64, 1, 1}, 0}, {a, a, a, 1 << 20});
  const auto end = device.record_event(0);
  const double seconds = device.seconds_between(0, begin.get(), end.get());
  EXPECT_GT(seconds, 1e-6);
  EXPECT_LT(seconds, 10);
}

TEST_F(Opencl, TheClockOfTheDeviceMeasures) {
  const auto registered = register_device_code(code_of(kText));
  const Tensor a = Tensor::zeros(Shape{1 << 20}, kFloat32, kOpencl);
  int num_calls = 0;
  const Function function = Function::packed("f", [&num_calls](Args args) -> Value {
    ++num_calls;
    const Tensor tensor = args[0].as_tuple()[0].as_tensor();
    launch(kOpencl, kAddKey, {{1 << 14, 1, 1}, {64, 1, 1}, 0}, {tensor, tensor, tensor, 1 << 20});
    return {};
  });
  const Value arguments[] = {Value::tuple({a})};
  const TimingResult result = time_evaluator(function, arguments, {.number = 3, .repeat = 2});
  EXPECT_EQ(num_calls, 1 + 3 * 2);
  ASSERT_EQ(result.results_s.size(), 2u);
  EXPECT_GT(result.min_s, 1e-6);
  EXPECT_LT(result.max_s, 10);
  // the arguments are on the CPU, the result is not; what is queued takes longer than to queue it
  const Function with_result = Function::packed("g", [&](Args) -> Value {
    launch(kOpencl, kAddKey, {{1 << 14, 1, 1}, {64, 1, 1}, 0}, {a, a, a, 1 << 20});
    return a;
  });
  EXPECT_GT(time_evaluator(with_result, {}, {.number = 5}).min_s, result.min_s / 4);
}

}  // namespace
}  // namespace tilewright::runtime
