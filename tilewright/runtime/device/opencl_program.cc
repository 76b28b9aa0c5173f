// Builds source text of OpenCL and launches its kernels.
#include <mutex>
#include <string>
#include <vector>

#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/device/opencl_device.h"
#include "tilewright/support/error.h"
#include "tilewright/support/finally.h"

namespace tilewright::runtime::opencl {
namespace {

struct LoadedKernel {
  std::shared_ptr<void> program;  // released after the kernel
  Kernel kernel = nullptr;
  std::mutex mutex;        // held from the first clSetKernelArg to the launch
  UInt num_arguments = 0;  // one more than it was asked for with: dynamic shared memory
  ~LoadedKernel() {
    if (kernel) api().clReleaseKernel(kernel);
  }
};

std::string build_log(const OpenDevice& device, Program program) {
  size_t size = 0;
  api().clGetProgramBuildInfo(program, device.id, kProgramBuildLog, 0, nullptr, &size);
  std::string log(size, '\0');
  api().clGetProgramBuildInfo(program, device.id, kProgramBuildLog, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log;
}

// A sub-buffer that begins at the place; released when the launch is queued.
Memory sub_buffer(const OpenDevice& device, const AddressRanges::Place& place, size_t position) {
  if (static_cast<int64_t>(place.offset) % device.properties.memory_alignment != 0)
    throw Unsupported("argument {} begins {} bytes into its memory, and {} takes only multiples of {} there",
                      position + 1, place.offset, device.device.str(), device.properties.memory_alignment)
        .help("pass a copy of that part of the tensor");
  const Region region{place.offset, place.bytes - place.offset};
  Int code = kSuccess;
  Memory part = api().clCreateSubBuffer(static_cast<Memory>(place.object), kMemReadWrite,
                                        kBufferCreateTypeRegion, &region, &code);
  check(device, code, "clCreateSubBuffer");
  return part;
}

// Sets the arguments; the caller releases what is added to `parts`.
void set_arguments(const OpenDevice& device, const LoadedKernel& loaded, const KernelLaunch& launch,
                   std::vector<Memory>& parts) {
  UInt position = 0;
  for (const KernelArgument& argument : launch.arguments) {
    Memory memory = nullptr;
    const void* value = argument.bytes.data();
    auto size = static_cast<size_t>(argument.dtype.num_bytes());
    if (argument.dtype.is_handle()) {
      value = &memory;
      size = sizeof memory;
      if (argument.pointer()) {
        const AddressRanges::Place place = memory_of(device, argument.pointer());
        memory = static_cast<Memory>(place.object);
        // nothing is left for a part that begins at the end: it is empty, and any object will do
        if (place.offset != 0 && place.offset < place.bytes)
          memory = parts.emplace_back(sub_buffer(device, place, position));
      }
    }
    check(device, api().clSetKernelArg(loaded.kernel, position, size, value),
          fmt::format("clSetKernelArg of argument {}", position + 1));
    ++position;
  }
  if (loaded.num_arguments == position) return;
  const auto shared_bytes = static_cast<size_t>(std::max<int64_t>(launch.dynamic_shared_bytes, 1));
  check(device, api().clSetKernelArg(loaded.kernel, position, shared_bytes, nullptr),
        "clSetKernelArg of the dynamic shared memory");
}

}  // namespace

std::shared_ptr<void> load(int32_t id, const DeviceImage& image) {
  OpenDevice& device = open_device(id);
  const char* text = image.bytes.data();
  const size_t size = image.bytes.size();
  Int code = kSuccess;
  Program program = api().clCreateProgramWithSource(device.context, 1, &text, &size, &code);
  check(device, code, "clCreateProgramWithSource");
  std::shared_ptr<void> owner(program,
                              [](void* made) { api().clReleaseProgram(static_cast<Program>(made)); });
  code = api().clBuildProgram(program, 1, &device.id, image.arch.c_str(), nullptr, nullptr);
  if (code == kBuildProgramFailure)
    throw UserError("the compiler of {} refuses the source text:\n{}", device.device.str(),
                    build_log(device, program));
  check(device, code, "clBuildProgram");
  return owner;
}

std::shared_ptr<void> find_kernel(int32_t id, const std::shared_ptr<void>& program, const std::string& symbol,
                                  std::span<const DataType> params) {
  OpenDevice& device = open_device(id);
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->program = program;
  Int code = kSuccess;
  loaded->kernel = api().clCreateKernel(static_cast<Program>(program.get()), symbol.c_str(), &code);
  check(device, code, "clCreateKernel");
  api().clGetKernelInfo(loaded->kernel, kKernelNumArgs, sizeof(UInt), &loaded->num_arguments, nullptr);
  if (loaded->num_arguments != params.size() && loaded->num_arguments != params.size() + 1)
    throw UserError("its text has {} parameters, its description {}", loaded->num_arguments, params.size());
  return loaded;
}

void launch(int32_t id, void* kernel, const KernelLaunch& launch) {
  OpenDevice& device = open_device(id);
  auto& loaded = *static_cast<LoadedKernel*>(kernel);
  size_t block[3], all[3];
  for (size_t axis = 0; axis < 3; ++axis) {
    block[axis] = static_cast<size_t>(launch.block[axis]);
    all[axis] = static_cast<size_t>(launch.grid[axis]) * block[axis];
  }
  const Queue queue = current_queue(device);
  std::vector<Memory> parts;
  const Finally release([&] {
    for (Memory part : parts) api().clReleaseMemObject(part);
  });
  std::lock_guard lock(loaded.mutex);
  set_arguments(device, loaded, launch, parts);
  check(device,
        api().clEnqueueNDRangeKernel(queue, loaded.kernel, 3, nullptr, all, block, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  device.last_launch.set(launch);
  check(device, api().clFlush(queue), "clFlush");
}

}  // namespace tilewright::runtime::opencl
