// The part of OpenCL that we use, declared from its specification (registry.khronos.org/OpenCL), and its functions
// from libOpenCL.so.1, which is loaded when somebody first asks for a device of OpenCL.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::runtime::opencl {

using Int = int32_t;
using UInt = uint32_t;
using Bits = uint64_t;
using Platform = struct PlatformTag*;
using DeviceId = struct DeviceIdTag*;
using Context = struct ContextTag*;
using Queue = struct QueueTag*;
using Memory = struct MemoryTag*;
using Program = struct ProgramTag*;
using Kernel = struct KernelTag*;
using Event = struct EventTag*;

struct Region {
  size_t origin, size;
};

enum : UInt {
  kDeviceType = 0x1000,
  kDeviceMaxComputeUnits = 0x1002,
  kDeviceMaxWorkGroupSize = 0x1004,
  kDeviceMaxWorkItemSizes = 0x1005,
  kDeviceMaxClockFrequency = 0x100C,
  kDeviceMemBaseAddrAlign = 0x1019,
  kDeviceGlobalMemCacheSize = 0x101E,
  kDeviceGlobalMemSize = 0x101F,
  kDeviceLocalMemSize = 0x1023,
  kDeviceName = 0x102B,
  kDeviceVersion = 0x102F,
  kDeviceOpenclCVersion = 0x103D,
  kProgramBuildLog = 0x1183,
  kKernelNumArgs = 0x1191,
  kEventCommandExecutionStatus = 0x11D3,
  kBufferCreateTypeRegion = 0x1220,
  kProfilingCommandEnd = 0x1283,
};
inline constexpr Bits kDeviceTypeCpu = 1 << 1;
inline constexpr Bits kDeviceTypeAll = 0xFFFFFFFF;
inline constexpr Bits kQueueProfilingEnable = 1 << 1;
inline constexpr Bits kMemReadWrite = 1 << 0;
inline constexpr Int kSuccess = 0;
inline constexpr Int kBuildProgramFailure = -11;

/// name(return type, parameters) of each function
#define TILEWRIGHT_OPENCL_FUNCTIONS(X)                                                                     \
  X(clGetPlatformIDs, Int, (UInt, Platform*, UInt*))                                                       \
  X(clGetDeviceIDs, Int, (Platform, Bits, UInt, DeviceId*, UInt*))                                         \
  X(clGetDeviceInfo, Int, (DeviceId, UInt, size_t, void*, size_t*))                                        \
  X(clCreateContext, Context, (const intptr_t*, UInt, const DeviceId*, void*, void*, Int*))                \
  X(clCreateCommandQueue, Queue, (Context, DeviceId, Bits, Int*))                                          \
  X(clReleaseCommandQueue, Int, (Queue))                                                                   \
  X(clFlush, Int, (Queue))                                                                                 \
  X(clFinish, Int, (Queue))                                                                                \
  X(clCreateBuffer, Memory, (Context, Bits, size_t, void*, Int*))                                          \
  X(clCreateSubBuffer, Memory, (Memory, Bits, UInt, const void*, Int*))                                    \
  X(clReleaseMemObject, Int, (Memory))                                                                     \
  X(clEnqueueReadBuffer, Int, (Queue, Memory, UInt, size_t, size_t, void*, UInt, const Event*, Event*))    \
  X(clEnqueueWriteBuffer, Int,                                                                             \
    (Queue, Memory, UInt, size_t, size_t, const void*, UInt, const Event*, Event*))                        \
  X(clEnqueueCopyBuffer, Int, (Queue, Memory, Memory, size_t, size_t, size_t, UInt, const Event*, Event*)) \
  X(clEnqueueFillBuffer, Int,                                                                              \
    (Queue, Memory, const void*, size_t, size_t, size_t, UInt, const Event*, Event*))                      \
  X(clCreateProgramWithSource, Program, (Context, UInt, const char**, const size_t*, Int*))                \
  X(clBuildProgram, Int, (Program, UInt, const DeviceId*, const char*, void*, void*))                      \
  X(clGetProgramBuildInfo, Int, (Program, DeviceId, UInt, size_t, void*, size_t*))                         \
  X(clReleaseProgram, Int, (Program))                                                                      \
  X(clCreateKernel, Kernel, (Program, const char*, Int*))                                                  \
  X(clReleaseKernel, Int, (Kernel))                                                                        \
  X(clGetKernelInfo, Int, (Kernel, UInt, size_t, void*, size_t*))                                          \
  X(clSetKernelArg, Int, (Kernel, UInt, size_t, const void*))                                              \
  X(clEnqueueNDRangeKernel, Int,                                                                           \
    (Queue, Kernel, UInt, const size_t*, const size_t*, const size_t*, UInt, const Event*, Event*))        \
  X(clEnqueueMarkerWithWaitList, Int, (Queue, UInt, const Event*, Event*))                                 \
  X(clEnqueueBarrierWithWaitList, Int, (Queue, UInt, const Event*, Event*))                                \
  X(clGetEventInfo, Int, (Event, UInt, size_t, void*, size_t*))                                            \
  X(clGetEventProfilingInfo, Int, (Event, UInt, size_t, void*, size_t*))                                   \
  X(clWaitForEvents, Int, (UInt, const Event*))                                                            \
  X(clReleaseEvent, Int, (Event))

struct Api {
#define TILEWRIGHT_DECLARE(name, Result, parameters) Result(*name) parameters = nullptr;
  TILEWRIGHT_OPENCL_FUNCTIONS(TILEWRIGHT_DECLARE)
#undef TILEWRIGHT_DECLARE
  std::string problem;  // why there are no functions; empty if there are
};

/// Loads the library at the first call.
const Api& api();
/// "CL_INVALID_VALUE"
std::string error_name(Int code);

}  // namespace tilewright::runtime::opencl
