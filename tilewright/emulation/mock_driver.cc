// libcuda.so.1 of the emulation: the functions of the CUDA driver API that the runtime calls, on a GPU that is not
// there. Its devices have the limits of an H100. It is strict where a real driver lets mistakes pass: nothing runs
// before somebody waits (work_queue.h), the host cannot touch memory of the device (device_memory.h), functions that
// need a current context ask for one.
// TILEWRIGHT_EMULATED_CUDA_DEVICES is the number of devices, 1 to 8; default 1.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tilewright/emulation/device_memory.h"
#include "tilewright/emulation/emulated_image.h"
#include "tilewright/emulation/work_queue.h"

namespace tilewright::emulation {
namespace {

using Result = int;
using Address = unsigned long long;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
};
struct ErrorText {
  Result code;
  const char *name, *meaning;
};
// The texts are those of the documentation of CUresult.
constexpr ErrorText kErrors[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

// The numbers of CUdevice_attribute and what an H100 says.
struct AttributeValue {
  int attribute, value;
};
constexpr AttributeValue kAttributes[] = {
    {1, 1024},                      // threads of a block
    {2, 1024},                      // blockDim.x
    {3, 1024},                      // .y
    {4, 64},                        // .z
    {5, 2147483647},                // gridDim.x
    {6, 65535},                     // .y
    {7, 65535},                     // .z
    {8, 49152},                     // shared memory of a block, bytes
    {10, 32},                       // threads of a warp
    {12, 65536},                    // registers of a block
    {13, 1980000},                  // clock, kHz
    {16, 132},                      // multiprocessors
    {38, 52428800},                 // L2 cache, bytes
    {39, 2048},                     // threads of a multiprocessor
    {75, 9},                        // compute capability
    {76, 0},         {81, 233472},  // shared memory of a multiprocessor, bytes
    {82, 65536},                    // registers of a multiprocessor
    {97, 232448},                   // shared memory of a block that asks for it, bytes
    {115, 1},                       // memory pools
};

int attribute_value(int attribute) {
  for (const AttributeValue& known : kAttributes) {
    if (known.attribute == attribute) return known.value;
  }
  return -1;
}

struct Context {
  int device;
  WorkQueue queue;
};
struct Stream {
  Context* context;
  int number;
};
struct Event {
  Context* context;
  std::shared_ptr<Point> point;  // null: it was never recorded
};

struct Driver {
  std::recursive_mutex mutex;
  bool is_started = false;
  Result failure = kSuccess;  // of a kernel: from then on every call fails
  DeviceMemory memory;
  std::vector<std::unique_ptr<Context>> contexts;  // one for each device
};

// Never destroyed: the runtime may call while the process ends.
Driver& driver() {
  static auto* const instance = new Driver;
  return *instance;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

// What a call needs: the lock, a driver that was started and has not failed, a current context.
class Call {
 public:
  explicit Call(bool needs_context = true) : lock_(driver().mutex) {
    if (!driver().is_started)
      result = kNotInitialized;
    else if (driver().failure != kSuccess)
      result = driver().failure;
    else if (needs_context && context_stack().empty())
      result = kInvalidContext;
    else if (!context_stack().empty())
      context = context_stack().back();
  }
  Result result = kSuccess;
  Context* context = nullptr;

  /// The stream of a handle; of null, and of 1 and 2, which the API has names for, the one that the context begins with.
  int stream_of(const void* handle) const {
    if (reinterpret_cast<uintptr_t>(handle) <= 2) return 0;
    return static_cast<const Stream*>(handle)->number;
  }
  /// Runs work that somebody waits for; the memory is opened once for all of it.
  template <class Run>
  Result wait(Run run) const {
    const DeviceMemory::Access access(driver().memory);
    run();
    return driver().failure;
  }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

void fail(Context& context, Result failure, const std::string& text) {
  std::fprintf(stderr, "emulated GPU: %s\n", text.c_str());
  driver().failure = failure;
  context.queue.clear();
}

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

// Copies or sets memory when its turn comes.
Result push_access(Call& call, const void* stream, std::function<void()> body) {
  call.context->queue.push(call.stream_of(stream), [body = std::move(body)] {
    const DeviceMemory::Access access(driver().memory);
    body();
  });
  return kSuccess;
}

struct Launch {
  Kernel* kernel;
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
  std::vector<std::vector<char>> arguments;
};

void run(Context& context, const Launch& launch) {
  if (driver().failure != kSuccess) return;
  std::vector<void*> arguments;
  for (const auto& argument : launch.arguments) arguments.push_back(const_cast<char*>(argument.data()));
  const DeviceMemory::Access access(driver().memory);
  const int code =
      launch.kernel->code(launch.grid.data(), launch.block.data(), launch.shared_bytes, arguments.data());
  if (code != 0) return fail(context, kLaunchFailed, "kernel " + launch.kernel->name + " failed");
  if (!driver().memory.is_sound())
    fail(context, kIllegalAddress,
         "kernel " + launch.kernel->name + " wrote behind the end of a block of memory");
}

bool is_within(const std::array<unsigned, 3>& sizes, int first_attribute) {
  for (int axis = 0; axis < 3; ++axis) {
    const unsigned size = sizes[static_cast<size_t>(axis)];
    if (size == 0 || size > static_cast<unsigned>(attribute_value(first_attribute + axis))) return false;
  }
  return true;
}

Image* image_of(void* module) { return static_cast<Image*>(module); }

void write_log(unsigned num_options, const int* options, void** values, const std::string& text) {
  char* log = nullptr;
  size_t size = 0;
  for (unsigned n = 0; n < num_options; ++n) {
    if (options[n] == 5) log = static_cast<char*>(values[n]);
    if (options[n] == 6) size = reinterpret_cast<size_t>(values[n]);
  }
  if (log && size > 0) std::snprintf(log, size, "%s", text.c_str());
}

const ErrorText* error_text(Result code) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [code](const ErrorText& text) { return text.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace
}  // namespace tilewright::emulation

using namespace tilewright::emulation;

extern "C" {

Result cuInit(unsigned) {
  std::lock_guard lock(driver().mutex);
  if (driver().is_started) return kSuccess;
  const char* wanted = std::getenv("TILEWRIGHT_EMULATED_CUDA_DEVICES");
  const int count = wanted ? std::atoi(wanted) : 1;
  if (count < 1 || count > 8) return kNoDevice;
  for (int device = 0; device < count; ++device) {
    driver().contexts.push_back(std::make_unique<Context>());
    driver().contexts.back()->device = device;
  }
  driver().is_started = true;
  return kSuccess;
}

Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

Result cuDeviceGetCount(int* count) {
  const Call call(false);
  *count = static_cast<int>(driver().contexts.size());
  return call.result;
}

Result cuDeviceGet(int* device, int ordinal) {
  const Call call(false);
  if (call.result != kSuccess) return call.result;
  if (ordinal < 0 || ordinal >= static_cast<int>(driver().contexts.size())) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Result cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "emulated GPU");
  return kSuccess;
}

Result cuDeviceGetAttribute(int* value, int attribute, int) {
  const Call call(false);
  *value = attribute_value(attribute);
  return *value < 0 ? kInvalidValue : call.result;
}

Result cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = DeviceMemory::kTotalBytes;
  return kSuccess;
}

Result cuDevicePrimaryCtxRetain(void** context, int device) {
  const Call call(false);
  if (call.result == kSuccess) *context = driver().contexts.at(static_cast<size_t>(device)).get();
  return call.result;
}

Result cuCtxGetCurrent(void** context) {
  *context = context_stack().empty() ? nullptr : context_stack().back();
  return kSuccess;
}

Result cuCtxPushCurrent_v2(void* context) {
  if (!context) return kInvalidContext;
  context_stack().push_back(static_cast<Context*>(context));
  return kSuccess;
}

Result cuCtxPopCurrent_v2(void** context) {
  if (context_stack().empty()) return kInvalidContext;
  *context = context_stack().back();
  context_stack().pop_back();
  return kSuccess;
}

Result cuCtxSynchronize() {
  const Call call;
  if (call.result != kSuccess) return call.result;
  return call.wait([&] { call.context->queue.run_all(); });
}

Result cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  const Call call;
  *total_bytes = DeviceMemory::kTotalBytes;
  *free_bytes = *total_bytes - driver().memory.used_bytes();
  return call.result;
}

Result cuMemAlloc_v2(Address* address, size_t bytes) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  if (bytes == 0) return kInvalidValue;
  void* data = driver().memory.allocate(bytes);
  *address = reinterpret_cast<Address>(data);
  return data ? kSuccess : kOutOfMemory;
}

Result cuMemFree_v2(Address address) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const Result waited = call.wait([&] { call.context->queue.run_all(); });
  return driver().memory.release(pointer(address)) ? waited : kInvalidValue;
}

Result cuMemAllocAsync(Address* address, size_t bytes, void*) { return cuMemAlloc_v2(address, bytes); }

Result cuMemFreeAsync(Address address, void* stream) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  if (!driver().memory.contains(pointer(address), 1)) return kInvalidValue;
  call.context->queue.push(call.stream_of(stream), [address] { driver().memory.release(pointer(address)); });
  return kSuccess;
}

Result cuMemHostAlloc(void** data, size_t bytes, unsigned) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  constexpr size_t kPage = 4096;
  *data = bytes <= DeviceMemory::kTotalBytes ? std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)
                                             : nullptr;
  return *data ? kSuccess : kOutOfMemory;
}

Result cuMemFreeHost(void* data) {
  std::free(data);
  return kSuccess;
}

Result cuDeviceGetDefaultMemPool(void** pool, int) {
  *pool = &driver().memory;
  return kSuccess;
}

Result cuMemPoolSetAttribute(void* pool, int attribute, void*) {
  return pool == &driver().memory && attribute == 4 ? kSuccess : kInvalidValue;
}

Result cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void* stream) {
  Call call;
  if (call.result != kSuccess) return call.result;
  if (!driver().memory.contains(pointer(to), bytes)) return kInvalidValue;
  return push_access(call, stream, [=] { std::memcpy(pointer(to), from, bytes); });
}

Result cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void* stream) {
  Call call;
  if (call.result != kSuccess) return call.result;
  if (!driver().memory.contains(pointer(from), bytes)) return kInvalidValue;
  return push_access(call, stream, [=] { std::memcpy(to, pointer(from), bytes); });
}

Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream) {
  Call call;
  if (call.result != kSuccess) return call.result;
  const DeviceMemory& memory = driver().memory;
  if (!memory.contains(pointer(from), bytes) || !memory.contains(pointer(to), bytes)) return kInvalidValue;
  return push_access(call, stream, [=] { std::memcpy(pointer(to), pointer(from), bytes); });
}

Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void* stream) {
  Call call;
  if (call.result != kSuccess) return call.result;
  if (!driver().memory.contains(pointer(to), bytes)) return kInvalidValue;
  return push_access(call, stream, [=] { std::memset(pointer(to), value, bytes); });
}

Result cuModuleLoadDataEx(void** module, const void* bytes, unsigned num_options, int* options,
                          void** values) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  std::string problem;
  auto image = load_image(bytes, problem);
  if (!image) {
    write_log(num_options, options, values, problem);
    return kInvalidImage;
  }
  *module = image.release();
  return kSuccess;
}

Result cuModuleUnload(void* module) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const Result waited = call.wait([&] { call.context->queue.run_all(); });
  delete image_of(module);
  return waited;
}

Result cuModuleGetFunction(void** function, void* module, const char* name) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  *function = find_kernel(*image_of(module), name);
  return *function ? kSuccess : kNotFound;
}

Result cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? attribute_value(1) : 0;  // 0: threads of a block
  return kSuccess;
}

Result cuFuncSetAttribute(void* function, int attribute, int value) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  if (attribute != 8 || value < 0 || value > attribute_value(97)) return kInvalidValue;
  static_cast<Kernel*>(function)->allowed_shared_bytes = value;
  return kSuccess;
}

Result cuFuncGetParamInfo(void* function, size_t position, size_t* offset, size_t* size) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const std::vector<size_t>& sizes = static_cast<Kernel*>(function)->sizes;
  if (position >= sizes.size()) return kInvalidValue;
  size_t at = 0;
  for (size_t n = 0; n <= position; ++n) {
    at = (at + sizes[n] - 1) / sizes[n] * sizes[n];
    if (n < position) at += sizes[n];
  }
  *offset = at;
  *size = sizes[position];
  return kSuccess;
}

Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                      void** arguments, void** extra) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  auto* kernel = static_cast<Kernel*>(function);
  Launch launch{kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {}};
  const uint64_t num_threads = uint64_t{block_x} * block_y * block_z;
  if (extra || !is_within(launch.grid, 5) || !is_within(launch.block, 2)) return kInvalidValue;
  if (num_threads > static_cast<uint64_t>(attribute_value(1))) return kInvalidValue;
  if (shared_bytes > static_cast<unsigned>(kernel->allowed_shared_bytes)) return kInvalidValue;
  for (size_t n = 0; n < kernel->sizes.size(); ++n) {
    const auto* bytes = static_cast<const char*>(arguments[n]);
    launch.arguments.emplace_back(bytes, bytes + kernel->sizes[n]);
  }
  call.context->queue.push(call.stream_of(stream),
                           [context = call.context, launch = std::move(launch)] { run(*context, launch); });
  return kSuccess;
}

Result cuStreamCreate(void** stream, unsigned flags) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  constexpr unsigned kNonBlocking = 1;
  *stream = new Stream{call.context, call.context->queue.add_stream((flags & kNonBlocking) == 0)};
  return kSuccess;
}

Result cuStreamSynchronize(void* stream) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  return call.wait([&] { call.context->queue.run(call.stream_of(stream)); });
}

Result cuStreamDestroy_v2(void* stream) {
  const Call call(false);
  if (call.result != kSuccess) return call.result;
  auto* made = static_cast<Stream*>(stream);
  const Result waited = call.wait([&] { made->context->queue.run(made->number); });
  delete made;
  return waited;
}

Result cuEventCreate(void** event, unsigned) {
  const Call call;
  if (call.result == kSuccess) *event = new Event{call.context, nullptr};
  return call.result;
}

Result cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}

Result cuEventRecord(void* event, void* stream) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  static_cast<Event*>(event)->point = call.context->queue.push_point(call.stream_of(stream));
  return kSuccess;
}

Result cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  if (const auto& point = static_cast<Event*>(event)->point)
    call.context->queue.push_wait(call.stream_of(stream), point);
  return kSuccess;
}

Result cuEventSynchronize(void* event) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const auto* recorded = static_cast<Event*>(event);
  if (!recorded->point) return kSuccess;
  return call.wait([&] { recorded->context->queue.run_to(*recorded->point); });
}

Result cuEventQuery(void* event) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const auto& point = static_cast<Event*>(event)->point;
  return !point || point->is_done ? kSuccess : kNotReady;
}

Result cuEventElapsedTime(float* elapsed_ms, void* begin, void* end) {
  const Call call;
  if (call.result != kSuccess) return call.result;
  const auto &first = static_cast<Event*>(begin)->point, &last = static_cast<Event*>(end)->point;
  if (!first || !last) return kInvalidHandle;
  if (!first->is_done || !last->is_done) return kNotReady;
  *elapsed_ms = static_cast<float>(last->time_ms - first->time_ms);
  return kSuccess;
}

Result cuGetErrorName(Result code, const char** name) {
  const ErrorText* text = error_text(code);
  *name = text ? text->name : nullptr;
  return text ? kSuccess : kInvalidValue;
}

Result cuGetErrorString(Result code, const char** meaning) {
  const ErrorText* text = error_text(code);
  *meaning = text ? text->meaning : nullptr;
  return text ? kSuccess : kInvalidValue;
}

}  // extern "C"
