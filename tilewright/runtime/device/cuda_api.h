// The part of the CUDA driver API that we use, declared from docs.nvidia.com/cuda/cuda-driver-api, and its functions
// from libcuda.so.1, which is loaded when somebody first asks for a device of CUDA. The environment chooses another
// file: TILEWRIGHT_CUDA_EMULATION=1 the driver of the emulation, beside this library; else TILEWRIGHT_LIBCUDA a path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::runtime::cuda {

using Result = int;
using DeviceNumber = int;
using Pointer = unsigned long long;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Pool = struct PoolTag*;

/// CUdevice_attribute
enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,
  kMaxGridDimX = 5,
  kMaxSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptin = 97,
  kMemoryPoolsSupported = 115,
};
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1, kNotReady = 600;
inline constexpr unsigned kHostMemoryOfAllContexts = 1;
inline constexpr int kJitErrorLogBuffer = 5, kJitErrorLogBufferSizeBytes = 6;
inline constexpr int kFuncSharedSizeBytes = 1, kFuncMaxDynamicSharedSizeBytes = 8;
inline constexpr int kMempoolReleaseThreshold = 4;

/// member(symbol of the library, parameters) of each function; all return a Result
#define TILEWRIGHT_CUDA_FUNCTIONS(X)                                                                 \
  X(init, cuInit, (unsigned))                                                                        \
  X(driver_version, cuDriverGetVersion, (int*))                                                      \
  X(device_count, cuDeviceGetCount, (int*))                                                          \
  X(device, cuDeviceGet, (DeviceNumber*, int))                                                       \
  X(device_name, cuDeviceGetName, (char*, int, DeviceNumber))                                        \
  X(device_attribute, cuDeviceGetAttribute, (int*, Attribute, DeviceNumber))                         \
  X(device_total_memory, cuDeviceTotalMem_v2, (size_t*, DeviceNumber))                               \
  X(retain_context, cuDevicePrimaryCtxRetain, (Context*, DeviceNumber))                              \
  X(current_context, cuCtxGetCurrent, (Context*))                                                    \
  X(push_context, cuCtxPushCurrent_v2, (Context))                                                    \
  X(pop_context, cuCtxPopCurrent_v2, (Context*))                                                     \
  X(synchronize_context, cuCtxSynchronize, ())                                                       \
  X(memory_info, cuMemGetInfo_v2, (size_t*, size_t*))                                                \
  X(allocate, cuMemAlloc_v2, (Pointer*, size_t))                                                     \
  X(free, cuMemFree_v2, (Pointer))                                                                   \
  X(allocate_async, cuMemAllocAsync, (Pointer*, size_t, Stream))                                     \
  X(free_async, cuMemFreeAsync, (Pointer, Stream))                                                   \
  X(default_pool, cuDeviceGetDefaultMemPool, (Pool*, DeviceNumber))                                  \
  X(set_pool_attribute, cuMemPoolSetAttribute, (Pool, int, void*))                                   \
  X(allocate_host, cuMemHostAlloc, (void**, size_t, unsigned))                                       \
  X(free_host, cuMemFreeHost, (void*))                                                               \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (Pointer, const void*, size_t, Stream))                    \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void*, Pointer, size_t, Stream))                            \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, (Pointer, Pointer, size_t, Stream))                        \
  X(fill_bytes, cuMemsetD8Async, (Pointer, unsigned char, size_t, Stream))                           \
  X(load_module, cuModuleLoadDataEx, (Module*, const void*, unsigned, int*, void**))                 \
  X(unload_module, cuModuleUnload, (Module))                                                         \
  X(module_function, cuModuleGetFunction, (Function*, Module, const char*))                          \
  X(function_attribute, cuFuncGetAttribute, (int*, int, Function))                                   \
  X(set_function_attribute, cuFuncSetAttribute, (Function, int, int))                                \
  X(launch_kernel, cuLaunchKernel,                                                                   \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, \
     void**))                                                                                        \
  X(create_stream, cuStreamCreate, (Stream*, unsigned))                                              \
  X(destroy_stream, cuStreamDestroy_v2, (Stream))                                                    \
  X(synchronize_stream, cuStreamSynchronize, (Stream))                                               \
  X(stream_wait_event, cuStreamWaitEvent, (Stream, Event, unsigned))                                 \
  X(create_event, cuEventCreate, (Event*, unsigned))                                                 \
  X(record_event, cuEventRecord, (Event, Stream))                                                    \
  X(synchronize_event, cuEventSynchronize, (Event))                                                  \
  X(query_event, cuEventQuery, (Event))                                                              \
  X(elapsed_ms, cuEventElapsedTime, (float*, Event, Event))                                          \
  X(destroy_event, cuEventDestroy_v2, (Event))                                                       \
  X(error_name, cuGetErrorName, (Result, const char**))                                              \
  X(error_string, cuGetErrorString, (Result, const char**))

struct Api {
#define TILEWRIGHT_DECLARE(member, symbol, parameters) Result(*member) parameters = nullptr;
  TILEWRIGHT_CUDA_FUNCTIONS(TILEWRIGHT_DECLARE)
#undef TILEWRIGHT_DECLARE
  // since CUDA 12.4: the offset and size of a parameter; null in older drivers
  Result (*param_info)(Function, size_t, size_t*, size_t*) = nullptr;
  int num_devices = 0;
  std::string problem;  // why there are no devices; empty if there are
};

/// Loads and starts the driver at the first call.
const Api& api();
/// "CUDA_ERROR_INVALID_VALUE (invalid argument)"
std::string error_text(const Api& api, Result code);

}  // namespace tilewright::runtime::cuda
