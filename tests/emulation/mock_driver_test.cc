// The functions of the emulated libcuda.so.1, called as a program calls those of a real one: what it refuses.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tilewright::emulation {
namespace {

constexpr int kInvalidValue = 1, kNotInitialized = 3, kInvalidImage = 200, kInvalidContext = 201,
              kNotFound = 500, kNotReady = 600;

template <class... Args>
int call(const char* name, Args... args) {
  static void* const driver = dlopen(TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
  void* function = driver ? dlsym(driver, name) : nullptr;
  if (!function) return -1;
  return reinterpret_cast<int (*)(Args...)>(function)(args...);
}

void* const kNone = nullptr;

// A driver with a current context, and an image.
class MockDriver : public testing::Test {
 protected:
  void SetUp() override {
    static const int before = call("cuCtxSynchronize");
    EXPECT_EQ(before, kNotInitialized);
    ASSERT_EQ(call("cuInit", 0u), 0);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context_, 0), 0);
    EXPECT_EQ(call("cuCtxSynchronize"), kInvalidContext);
    ASSERT_EQ(call("cuCtxPushCurrent_v2", context_), 0);
    std::ifstream file(TEST_EMULATED_KERNELS, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(load(bytes), 0);
  }
  void TearDown() override {
    void* popped = nullptr;
    EXPECT_EQ(call("cuModuleUnload", module_), 0);
    EXPECT_EQ(call("cuCtxPopCurrent_v2", &popped), 0);
    EXPECT_EQ(popped, context_);
  }
  int load(const std::string& bytes, char* log = nullptr, size_t log_bytes = 0) {
    int options[] = {5, 6};
    void* values[] = {log, reinterpret_cast<void*>(log_bytes)};
    return call("cuModuleLoadDataEx", &module_, static_cast<const void*>(bytes.c_str()), log ? 2u : 0u,
                static_cast<int*>(options), static_cast<void**>(values));
  }
  static int launch(void* kernel, unsigned grid_y, unsigned block_x, unsigned shared_bytes,
                    void** arguments) {
    return call("cuLaunchKernel", kernel, 1u, grid_y, 1u, block_x, 1u, 1u, shared_bytes, kNone, arguments,
                static_cast<void**>(nullptr));
  }
  void* kernel(const char* name) {
    void* found = nullptr;
    EXPECT_EQ(call("cuModuleGetFunction", &found, module_, name), 0);
    return found;
  }
  void* context_ = nullptr;
  void* module_ = nullptr;
};

TEST_F(MockDriver, KernelsRunWhenSomebodyWaits) {
  unsigned long long data = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &data, size_t{28}), 0);
  float ones[7] = {1, 1, 1, 1, 1, 1, 1}, result[7] = {};
  int count = 7;
  void* arguments[] = {&data, &data, &data, &count};
  EXPECT_EQ(call("cuMemcpyHtoDAsync_v2", data, static_cast<const void*>(ones), sizeof ones, kNone), 0);
  EXPECT_EQ(launch(kernel("add"), 1, 7, 0, arguments), 0);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(result), data, sizeof result, kNone), 0);
  EXPECT_EQ(result[6], 0);
  count = 0;  // the launch has its own
  EXPECT_EQ(call("cuStreamSynchronize", kNone), 0);
  EXPECT_EQ(result[0], 2);
  EXPECT_EQ(result[6], 2);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(result), data, size_t{29}, kNone), kInvalidValue);
  EXPECT_EQ(call("cuMemFree_v2", data), 0);
  EXPECT_EQ(call("cuMemFree_v2", data), kInvalidValue);
}

TEST_F(MockDriver, ALaunchIsWithinTheLimits) {
  unsigned long long data = 0;
  void* arguments[] = {&data};
  void* reverse = kernel("reverse");
  EXPECT_EQ(launch(reverse, 65536, 1, 0, arguments), kInvalidValue);
  EXPECT_EQ(launch(reverse, 1, 0, 0, arguments), kInvalidValue);
  EXPECT_EQ(launch(reverse, 1, 1025, 0, arguments), kInvalidValue);
  EXPECT_EQ(launch(reverse, 1, 1, 48 * 1024 + 1, arguments), kInvalidValue);
  EXPECT_EQ(call("cuFuncSetAttribute", reverse, 8, 227 * 1024 + 1), kInvalidValue);
  EXPECT_EQ(call("cuFuncSetAttribute", reverse, 8, 227 * 1024), 0);
  EXPECT_EQ(launch(reverse, 0, 1, 227 * 1024, arguments), kInvalidValue);  // now for its grid alone
}

TEST_F(MockDriver, TellsTheParametersOfAKernel) {
  size_t offset = 0, size = 0;
  EXPECT_EQ(call("cuFuncGetParamInfo", kernel("behind"), size_t{1}, &offset, &size), 0);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(call("cuFuncGetParamInfo", kernel("behind"), size_t{2}, &offset, &size), kInvalidValue);
  void* none = nullptr;
  EXPECT_EQ(call("cuModuleGetFunction", &none, module_, "missing"), kNotFound);
}

TEST_F(MockDriver, RefusesWhatIsNoImage) {
  void* const loaded = module_;
  char log[64] = {};
  EXPECT_EQ(load(std::string(64, 'x'), log, sizeof log), kInvalidImage);
  EXPECT_STREQ(log, "the emulation runs what its own nvcc made");
  module_ = loaded;
}

TEST_F(MockDriver, EventsAreReadyWhenTheirStreamWasWaitedFor) {
  void *begin = nullptr, *end = nullptr;
  float elapsed_ms = -1;
  EXPECT_EQ(call("cuEventCreate", &begin, 0u), 0);
  EXPECT_EQ(call("cuEventCreate", &end, 0u), 0);
  EXPECT_EQ(call("cuEventRecord", begin, kNone), 0);
  EXPECT_EQ(call("cuEventRecord", end, kNone), 0);
  EXPECT_EQ(call("cuEventElapsedTime", &elapsed_ms, begin, end), kNotReady);
  EXPECT_EQ(call("cuEventSynchronize", end), 0);
  EXPECT_EQ(call("cuEventElapsedTime", &elapsed_ms, begin, end), 0);
  EXPECT_GE(elapsed_ms, 0);
  EXPECT_EQ(call("cuEventDestroy_v2", begin), 0);
  EXPECT_EQ(call("cuEventDestroy_v2", end), 0);
}

}  // namespace
}  // namespace tilewright::emulation
