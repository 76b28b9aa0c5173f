// Bindings for devices: what they are, and their streams.
#include <nanobind/stl/string.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

using runtime::Device;
using runtime::DeviceProperties;

bool exists(Device device) {
  try {
    runtime::device_interface(device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

nb::object to_python(const std::string& text) { return nb::cast(text); }
nb::object to_python(int64_t number) { return nb::int_(number); }
nb::object to_python(const std::array<int64_t, 3>& sizes) {
  return nb::make_tuple(sizes[0], sizes[1], sizes[2]);
}

// The property `member`; None for the CPU, which the target describes.
template <class Member>
auto property(Member DeviceProperties::* member) {
  return [member](Device self) -> nb::object {
    if (self.is_cpu()) return nb::none();
    return to_python(runtime::accelerator(self, "device").properties(self.id).*member);
  };
}

// Streams are numbers in Python: what the driver calls them, as torch.cuda.Stream.cuda_stream has it.
void* stream_of(nb::handle given, const char* what) {
  if (given.is_none()) return nullptr;
  const nb::object stream =
      nb::hasattr(given, "cuda_stream") ? nb::object(given.attr("cuda_stream")) : nb::borrow(given);
  if (!PyLong_Check(stream.ptr()))
    throw UserError("{}: the stream is a Python {}, expected a number or None", what,
                    Py_TYPE(given.ptr())->tp_name)
        .help("device.create_stream() gives one");
  return reinterpret_cast<void*>(nb::cast<intptr_t>(stream));
}

void bind_properties(nb::class_<Device>& device) {
  using P = DeviceProperties;
  device.def_prop_ro("exist", &exists, "Whether this machine has it, with a driver that answers.")
      .def_prop_ro("name", property(&P::name), "What its maker calls it.")
      .def_prop_ro("driver", property(&P::driver), "The driver and its version.")
      .def_prop_ro("compute_version", property(&P::compute_version),
                   "Of CUDA the compute capability, \"9.0\"; of OpenCL the version of its language.")
      .def_prop_ro("multi_processor_count", property(&P::multi_processor_count), "Number of multiprocessors.")
      .def_prop_ro("max_threads_per_block", property(&P::max_threads_per_block),
                   "The most threads of a block.")
      .def_prop_ro("warp_size", property(&P::warp_size), "Threads of a warp.")
      .def_prop_ro("max_shared_memory_per_block", property(&P::max_shared_memory_per_block),
                   "Bytes of shared memory that each kernel may have.")
      .def_prop_ro("max_dynamic_shared_memory_per_block", property(&P::max_dynamic_shared_memory_per_block),
                   "Bytes of shared memory that a launch may ask for.")
      .def_prop_ro("max_registers_per_block", property(&P::max_registers_per_block), "Registers of a block.")
      .def_prop_ro("max_threads_per_multi_processor", property(&P::max_threads_per_multi_processor),
                   "The most threads on a multiprocessor.")
      .def_prop_ro("max_shared_memory_per_multi_processor",
                   property(&P::max_shared_memory_per_multi_processor),
                   "Bytes of shared memory of a multiprocessor.")
      .def_prop_ro("max_registers_per_multi_processor", property(&P::max_registers_per_multi_processor),
                   "Registers of a multiprocessor.")
      .def_prop_ro("max_clock_rate", property(&P::max_clock_rate), "In kHz.")
      .def_prop_ro("max_thread_dimensions", property(&P::max_thread_dimensions),
                   "The most threads of a block along x, y and z.")
      .def_prop_ro("max_grid_dimensions", property(&P::max_grid_dimensions),
                   "The most blocks along x, y and z.")
      .def_prop_ro("total_global_memory", property(&P::total_global_memory), "Bytes.")
      .def_prop_ro("l2_cache_size_bytes", property(&P::l2_cache_size_bytes), "Bytes.")
      .def_prop_ro("memory_alignment", property(&P::memory_alignment),
                   "Tensors of a kernel begin at multiples of so many bytes.")
      .def_prop_ro(
          "available_global_memory",
          [](Device self) -> nb::object {
            if (self.is_cpu()) return nb::none();
            return nb::int_(runtime::accelerator(self, "device").free_memory(self.id));
          },
          "Bytes that are free; 0 if the driver does not tell.");
}

void bind_streams(nb::class_<Device>& device) {
  device
      .def(
          "sync",
          [](Device self, nb::handle stream) {
            if (self.is_cpu()) return;
            void* given = stream_of(stream, "sync");
            const Unlocked unlocked;
            const runtime::Accelerator& accelerator = runtime::accelerator(self, "sync");
            accelerator.synchronize(self.id, given ? given : accelerator.current_stream(self.id));
          },
          nb::arg("stream").none() = nb::none(),
          "Waits for the work of a stream; None is the current one. Raises UserError for what failed in it.")
      .def(
          "create_stream",
          [](Device self) {
            return reinterpret_cast<intptr_t>(
                runtime::accelerator(self, "create_stream").create_stream(self.id));
          },
          "A stream, as the number that its driver has for it; free_stream ends it.")
      .def(
          "free_stream",
          [](Device self, nb::handle stream) {
            void* given = stream_of(stream, "free_stream");
            const Unlocked unlocked;
            runtime::accelerator(self, "free_stream").free_stream(self.id, given);
          },
          nb::arg("stream").none(), "Waits for the work of a stream of create_stream, and ends it.")
      .def(
          "set_stream",
          [](Device self, nb::handle stream) {
            runtime::accelerator(self, "set_stream").set_stream(self.id, stream_of(stream, "set_stream"));
          },
          nb::arg("stream").none(),
          "What this thread starts from now on goes to `stream`: one of create_stream, one of another "
          "library such as "
          "torch.cuda.current_stream().cuda_stream, or None, that which the device begins with.")
      .def_prop_ro(
          "current_stream",
          [](Device self) {
            return reinterpret_cast<intptr_t>(runtime::accelerator(self, "stream").current_stream(self.id));
          },
          "The stream of this thread; 0 is the one that the device begins with.")
      .def(
          "wait_for_stream",
          [](Device self, nb::handle waiting, nb::handle awaited) {
            runtime::accelerator(self, "wait_for_stream")
                .wait_for_stream(self.id, stream_of(waiting, "wait_for_stream"),
                                 stream_of(awaited, "wait_for_stream"));
          },
          nb::arg("waiting").none(), nb::arg("awaited").none(),
          "What goes to stream `waiting` from now on begins when what is in stream `awaited` now is done.");
}

}  // namespace

Device device_of(nb::handle device) {
  if (nb::isinstance<Device>(device)) return nb::cast<Device>(device);
  if (device.is_none()) return Device::cpu();
  if (!PyUnicode_Check(device.ptr()))
    throw UserError("the device is a Python {}, expected a device or its name",
                    Py_TYPE(device.ptr())->tp_name)
        .help("e.g. tilewright.cpu() or \"cuda:0\"");
  return Device::parse(nb::cast<std::string>(device));
}

void bind_devices(nb::module_& m) {
  nb::class_<Device> device(m, "Device", "Where tensors live and programs run.");
  device
      .def(
          "__init__", [](Device* self, nb::handle name) { new (self) Device(device_of(name)); },
          nb::arg("name").none() = "")
      .def("__init__",
           [](Device*, nb::args, nb::kwargs) {
             throw UserError("Device: more than one name is given").help("e.g. Device(\"cuda:0\")");
           })
      .def_ro("device_type", &Device::type)
      .def_ro("device_id", &Device::id)
      .def("__eq__", [](const Device& a, const Device& b) { return a == b; })
      .def("__hash__", [](const Device& a) { return a.type * 1000 + a.id; })
      .def("__str__", &Device::str)
      .def("__repr__", [](const Device& self) { return "device(\"" + self.str() + "\")"; });
  bind_properties(device);
  bind_streams(device);
}

}  // namespace tilewright::python
