#include "tilewright/runtime/device/cuda.h"

#include <cstring>

#include "tilewright/runtime/device/cuda_device.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

using namespace cuda;

Pointer address_of(const void* data) { return reinterpret_cast<Pointer>(data); }
Stream stream_of(void* stream) { return static_cast<Stream>(stream); }

void* allocate(int32_t id, size_t bytes) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  Pointer data = 0;
  const Result code =
      device.has_pool ? api().allocate_async(&data, bytes, nullptr) : api().allocate(&data, bytes);
  if (code != kSuccess)
    throw UserError("out of memory: cannot allocate {} bytes on {}: {}", bytes, device.device.str(),
                    error_text(api(), code))
        .help("use smaller tensors, or release some");
  if (device.has_foreign_streams)
    check_wait(device, api().synchronize_stream(nullptr), "cuStreamSynchronize");
  return reinterpret_cast<void*>(data);
}

void release(int32_t id, void* data) noexcept {
  try {
    OpenDevice& device = open_device(id);
    const InContext in_context(device);
    if (device.has_foreign_streams) api().synchronize_context();
    device.has_pool ? api().free_async(address_of(data), nullptr) : api().free(address_of(data));
  } catch (const Error&) {
    // the driver has ended before us, or does not answer any more: it has the memory back
  }
}

void copy(int32_t id, void* to, const void* from, size_t bytes) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  check(device, api().copy_on_device(address_of(to), address_of(from), bytes, current_stream(device)),
        "cuMemcpyDtoDAsync");
}

int num_devices() { return api().problem.empty() ? api().num_devices : 0; }

void* allocate_on_host(int32_t, size_t bytes) {
  OpenDevice& device = open_device(0);
  const InContext in_context(device);
  void* data = nullptr;
  const Result code = api().allocate_host(&data, bytes, kHostMemoryOfAllContexts);
  if (code != kSuccess)
    throw UserError("out of memory: cannot allocate {} bytes on cuda_host:0: {}", bytes,
                    error_text(api(), code))
        .help("use smaller tensors, or release some");
  return data;
}

void release_on_host(int32_t, void* data) noexcept { api().free_host(data); }

Accelerator::Missing why_none() {
  return {api().problem,
          "install NVIDIA's driver, or set TILEWRIGHT_CUDA_EMULATION=1, which runs kernels on the CPU"};
}

const DeviceProperties& properties(int32_t id) { return open_device(id).properties; }

int64_t free_memory(int32_t id) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  size_t free_bytes = 0, all_bytes = 0;
  check(device, api().memory_info(&free_bytes, &all_bytes), "cuMemGetInfo");
  return static_cast<int64_t>(free_bytes);
}

void wait(OpenDevice& device, Stream stream) {
  check_wait(device, api().synchronize_stream(stream), "cuStreamSynchronize");
}

void copy_from_host(int32_t id, void* to, const void* from, size_t bytes, bool waits) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  const Stream stream = current_stream(device);
  check(device, api().copy_to_device(address_of(to), from, bytes, stream), "cuMemcpyHtoDAsync");
  if (waits) wait(device, stream);
}

void copy_to_host(int32_t id, void* to, const void* from, size_t bytes, bool waits) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  const Stream stream = current_stream(device);
  check_wait(device, api().copy_to_host(to, address_of(from), bytes, stream), "cuMemcpyDtoHAsync");
  if (waits) wait(device, stream);
}

void fill_zero(int32_t id, void* to, size_t bytes) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  check(device, api().fill_bytes(address_of(to), 0, bytes, current_stream(device)), "cuMemsetD8Async");
}

void* create_stream(int32_t id) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  Stream stream = nullptr;
  check(device, api().create_stream(&stream, 0), "cuStreamCreate");
  std::lock_guard lock(device.mutex);
  device.own_streams.insert(stream);
  return stream;
}

void free_stream(int32_t id, void* stream) {
  if (!stream) return;
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  {
    std::lock_guard lock(device.mutex);
    device.own_streams.erase(stream);
  }
  const Result waited = api().synchronize_stream(stream_of(stream));
  check(device, api().destroy_stream(stream_of(stream)), "cuStreamDestroy");
  check_wait(device, waited, "cuStreamSynchronize");
}

void* current_stream(int32_t id) { return current_stream_of({kDLCUDA, id}); }

void set_stream(int32_t id, void* stream) {
  if (stream) {
    OpenDevice& device = open_device(id);
    std::lock_guard lock(device.mutex);
    if (!device.own_streams.contains(stream)) device.has_foreign_streams = true;
  }
  current_stream_of({kDLCUDA, id}) = stream;
}

void synchronize(int32_t id, void* stream) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  wait(device, stream_of(stream));
}

std::shared_ptr<void> make_event(OpenDevice& device, Stream stream) {
  Event event = nullptr;
  check(device, api().create_event(&event, 0), "cuEventCreate");
  std::shared_ptr<void> owner(event, [](void* made) { api().destroy_event(static_cast<Event>(made)); });
  check(device, api().record_event(event, stream), "cuEventRecord");
  return owner;
}

void wait_for_stream(int32_t id, void* waiting, void* awaited) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  const auto event = make_event(device, stream_of(awaited));
  check(device, api().stream_wait_event(stream_of(waiting), static_cast<Event>(event.get()), 0),
        "cuStreamWaitEvent");
}

std::shared_ptr<void> record_event(int32_t id) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  return make_event(device, current_stream(device));
}

bool is_done(int32_t id, void* event) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  const Result code = api().query_event(static_cast<Event>(event));
  if (code != kNotReady) check_wait(device, code, "cuEventQuery");
  return code == kSuccess;
}

double seconds_between(int32_t id, void* begin, void* end) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  check_wait(device, api().synchronize_event(static_cast<Event>(end)), "cuEventSynchronize");
  float elapsed_ms = 0;
  check(device, api().elapsed_ms(&elapsed_ms, static_cast<Event>(begin), static_cast<Event>(end)),
        "cuEventElapsedTime");
  return static_cast<double>(elapsed_ms) * 1e-3;
}

}  // namespace

constinit const DeviceInterface kCudaHostDevice = {
    "cuda_host", allocate_on_host, release_on_host,
    [](int32_t, void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); },
    [] { return num_devices() > 0 ? 1 : 0; }};

constinit const DeviceInterface kCudaDevice = {"cuda", allocate, release, copy, num_devices};

constinit const Accelerator kCudaAccelerator = {
    .why_none = why_none,
    .properties = properties,
    .free_memory = free_memory,
    .copy_from_host = copy_from_host,
    .copy_to_host = copy_to_host,
    .fill_zero = fill_zero,
    .load = cuda::load,
    .find_kernel = cuda::find_kernel,
    .launch = cuda::launch,
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
