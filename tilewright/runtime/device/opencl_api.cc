#include "tilewright/runtime/device/opencl_api.h"

#include <dlfcn.h>

#include "tilewright/support/format.h"

namespace tilewright::runtime::opencl {
namespace {

Api load() {
  Api api;
  // oclgrind and others put functions of their own before those of the library
  const bool is_there = dlsym(RTLD_DEFAULT, "clGetPlatformIDs") != nullptr;
  void* library = is_there ? RTLD_DEFAULT : dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library && !is_there) {
    api.problem = fmt::format("libOpenCL.so.1 cannot be loaded ({})", dlerror());
    return api;
  }
#define TILEWRIGHT_FIND(name, Result, parameters)                         \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (!api.name && api.problem.empty()) api.problem = "libOpenCL.so.1 has no " #name;
  TILEWRIGHT_OPENCL_FUNCTIONS(TILEWRIGHT_FIND)
#undef TILEWRIGHT_FIND
  return api;
}

}  // namespace

const Api& api() {
  // never destroyed: tensors may be released while the process ends
  static const Api* const instance = new Api(load());
  return *instance;
}

std::string error_name(Int code) {
  struct Entry {
    Int code;
    const char* name;
  };
  constexpr Entry kNames[] = {
      {-1, "DEVICE_NOT_FOUND"},
      {-2, "DEVICE_NOT_AVAILABLE"},
      {-3, "COMPILER_NOT_AVAILABLE"},
      {-4, "MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "OUT_OF_RESOURCES"},
      {-6, "OUT_OF_HOST_MEMORY"},
      {-7, "PROFILING_INFO_NOT_AVAILABLE"},
      {-11, "BUILD_PROGRAM_FAILURE"},
      {-13, "MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-30, "INVALID_VALUE"},
      {-36, "INVALID_COMMAND_QUEUE"},
      {-38, "INVALID_MEM_OBJECT"},
      {-43, "INVALID_BUILD_OPTIONS"},
      {-45, "INVALID_PROGRAM_EXECUTABLE"},
      {-46, "INVALID_KERNEL_NAME"},
      {-48, "INVALID_KERNEL"},
      {-49, "INVALID_ARG_INDEX"},
      {-50, "INVALID_ARG_VALUE"},
      {-51, "INVALID_ARG_SIZE"},
      {-52, "INVALID_KERNEL_ARGS"},
      {-54, "INVALID_WORK_GROUP_SIZE"},
      {-55, "INVALID_WORK_ITEM_SIZE"},
      {-58, "INVALID_EVENT"},
      {-59, "INVALID_OPERATION"},
      {-61, "INVALID_BUFFER_SIZE"},
      {-63, "INVALID_GLOBAL_WORK_SIZE"},
  };
  for (const Entry& entry : kNames) {
    if (entry.code == code) return fmt::format("CL_{}", entry.name);
  }
  return fmt::format("error {} of OpenCL", code);
}

}  // namespace tilewright::runtime::opencl
