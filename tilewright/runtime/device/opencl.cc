#include "tilewright/runtime/device/opencl.h"

#include "tilewright/runtime/device/opencl_device.h"
#include "tilewright/support/error.h"
#include "tilewright/support/finally.h"

namespace tilewright::runtime {
namespace {

using namespace opencl;

void* allocate(int32_t id, size_t bytes) {
  OpenDevice& device = open_device(id);
  Int code = kSuccess;
  Memory memory = api().clCreateBuffer(device.context, kMemReadWrite, bytes, nullptr, &code);
  void* address = code == kSuccess ? memory_ranges().add(memory, bytes, id) : nullptr;
  if (!address) {
    if (memory) api().clReleaseMemObject(memory);
    throw UserError("out of memory: cannot allocate {} bytes on {} ({})", bytes, device.device.str(),
                    code == kSuccess ? "no addresses are left" : error_name(code))
        .help("use smaller tensors, or release some");
  }
  return address;
}

// The driver keeps memory until the work that uses it is done.
void release(int32_t, void* data) noexcept {
  if (void* memory = memory_ranges().remove(data)) api().clReleaseMemObject(static_cast<Memory>(memory));
}

void copy(int32_t id, void* to, const void* from, size_t bytes) {
  OpenDevice& device = open_device(id);
  const auto source = memory_of(device, from), target = memory_of(device, to);
  check(device,
        api().clEnqueueCopyBuffer(current_queue(device), static_cast<Memory>(source.object),
                                  static_cast<Memory>(target.object), source.offset, target.offset, bytes, 0,
                                  nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

Accelerator::Missing why_none() {
  return {api().problem.empty() ? "no driver of OpenCL has a device" : api().problem,
          "install a driver of OpenCL; on Debian, pocl-opencl-icd runs kernels on the CPU"};
}

const DeviceProperties& properties(int32_t id) { return open_device(id).properties; }

int64_t free_memory(int32_t) { return 0; }

void copy_from_host(int32_t id, void* to, const void* from, size_t bytes, bool waits) {
  OpenDevice& device = open_device(id);
  const auto target = memory_of(device, to);
  check(device,
        api().clEnqueueWriteBuffer(current_queue(device), static_cast<Memory>(target.object), waits,
                                   target.offset, bytes, from, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void copy_to_host(int32_t id, void* to, const void* from, size_t bytes, bool waits) {
  OpenDevice& device = open_device(id);
  const auto source = memory_of(device, from);
  check_wait(device,
             api().clEnqueueReadBuffer(current_queue(device), static_cast<Memory>(source.object), waits,
                                       source.offset, bytes, to, 0, nullptr, nullptr),
             "clEnqueueReadBuffer");
}

void fill_zero(int32_t id, void* to, size_t bytes) {
  OpenDevice& device = open_device(id);
  const auto target = memory_of(device, to);
  const char zero = 0;
  check(device,
        api().clEnqueueFillBuffer(current_queue(device), static_cast<Memory>(target.object), &zero, 1,
                                  target.offset, bytes, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
}

Queue queue_of(OpenDevice& device, void* stream) {
  return stream ? static_cast<Queue>(stream) : device.queue;
}

void* create_stream(int32_t id) {
  OpenDevice& device = open_device(id);
  Int code = kSuccess;
  Queue queue = api().clCreateCommandQueue(device.context, device.id, kQueueProfilingEnable, &code);
  check(device, code, "clCreateCommandQueue");
  return queue;
}

void synchronize(int32_t id, void* stream) {
  OpenDevice& device = open_device(id);
  check_wait(device, api().clFinish(queue_of(device, stream)), "clFinish");
}

void free_stream(int32_t id, void* stream) {
  if (!stream) return;
  const Finally release([&] { api().clReleaseCommandQueue(static_cast<Queue>(stream)); });
  synchronize(id, stream);
}

void* current_stream(int32_t id) { return current_stream_of({kDLOpenCL, id}); }

void set_stream(int32_t id, void* stream) { current_stream_of({kDLOpenCL, id}) = stream; }

void wait_for_stream(int32_t id, void* waiting, void* awaited) {
  OpenDevice& device = open_device(id);
  Event event = nullptr;
  check(device, api().clEnqueueMarkerWithWaitList(queue_of(device, awaited), 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  const Finally release([&] { api().clReleaseEvent(event); });
  check(device, api().clFlush(queue_of(device, awaited)), "clFlush");
  check(device, api().clEnqueueBarrierWithWaitList(queue_of(device, waiting), 1, &event, nullptr),
        "clEnqueueBarrierWithWaitList");
}

std::shared_ptr<void> record_event(int32_t id) {
  OpenDevice& device = open_device(id);
  Event event = nullptr;
  check(device, api().clEnqueueMarkerWithWaitList(current_queue(device), 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  std::shared_ptr<void> owner(event, [](void* made) { api().clReleaseEvent(static_cast<Event>(made)); });
  check(device, api().clFlush(current_queue(device)), "clFlush");
  return owner;
}

bool is_done(int32_t id, void* event) {
  Int status = kSuccess;  // below 0: an error, which a wait reports
  check(open_device(id),
        api().clGetEventInfo(static_cast<Event>(event), kEventCommandExecutionStatus, sizeof status, &status,
                             nullptr),
        "clGetEventInfo");
  return status <= kSuccess;
}

double seconds_between(int32_t id, void* begin, void* end) {
  OpenDevice& device = open_device(id);
  const Event events[] = {static_cast<Event>(begin), static_cast<Event>(end)};
  check_wait(device, api().clWaitForEvents(2, events), "clWaitForEvents");
  Bits times_ns[2] = {};
  for (int n = 0; n < 2; ++n) {
    check(device,
          api().clGetEventProfilingInfo(events[n], kProfilingCommandEnd, sizeof(Bits), &times_ns[n], nullptr),
          "clGetEventProfilingInfo");
  }
  return static_cast<double>(times_ns[1] - times_ns[0]) * 1e-9;
}

}  // namespace

constinit const DeviceInterface kOpenclDevice = {"opencl", allocate, release, copy, opencl::num_devices};

constinit const Accelerator kOpenclAccelerator = {
    .why_none = why_none,
    .properties = properties,
    .free_memory = free_memory,
    .copy_from_host = copy_from_host,
    .copy_to_host = copy_to_host,
    .fill_zero = fill_zero,
    .load = opencl::load,
    .find_kernel = opencl::find_kernel,
    .launch = opencl::launch,
    .create_stream = create_stream,
    .free_stream = free_stream,
    .current_stream = current_stream,
    .set_stream = set_stream,
    .synchronize = synchronize,
    .wait_for_stream = wait_for_stream,
    .record_event = record_event,
    .is_done = is_done,
    .seconds_between = seconds_between,
};

}  // namespace tilewright::runtime
