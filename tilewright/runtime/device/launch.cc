// Registered device code: its packed functions, which check what they get, load images and launch kernels.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/device/cuda_images.h"
#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/function.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::runtime {
namespace {

constexpr size_t kNumLaunchArguments = 9;  // before those of the kernel

// Device code as somebody registered it, and its images that are loaded.
class RegisteredCode {
 public:
  explicit RegisteredCode(DeviceCode code) : code(std::move(code)) {}
  const DeviceCode code;

  std::shared_ptr<void> load(const Accelerator& accelerator, Device device, uint32_t image) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<void>& program = programs_[{image, device.id}];
    if (!program) program = accelerator.load(device.id, code.images[image]);
    return program;
  }

 private:
  std::mutex mutex_;  // held while an image is loaded, which is done once
  std::map<std::pair<uint32_t, int32_t>, std::shared_ptr<void>> programs_;
};

std::string devices_text(const RegisteredCode& code, const DeviceKernel& kernel) {
  std::string text;
  for (uint32_t number : kernel.images) {
    const DeviceImage& image = code.code.images[number];
    text += text.empty() ? "" : ", ";
    text += image.format;
    if (!image.arch.empty() && image.device_type == kDLCUDA) text += " of " + image.arch;
  }
  return text.empty() ? "none" : text;
}

// A kernel of one key, in all device code that has it.
class Launcher {
 public:
  void add(std::shared_ptr<RegisteredCode> code, const DeviceKernel& kernel) {
    std::lock_guard lock(mutex_);
    providers_.push_back({std::move(code), &kernel});
    if (symbol_) return;
    symbol_ = std::make_shared<const std::string>(kernel.symbol);
    name_ = "kernel " + kernel.symbol;
  }
  /// Forgets one provider; returns whether another is left.
  bool remove(const RegisteredCode* code) {
    std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(providers_, [&](const Provider& p) { return p.code.get() == code; });
    if (found != providers_.end()) providers_.erase(found);
    return !providers_.empty();
  }

  void launch(Args args) const;

 private:
  struct Provider {
    std::shared_ptr<RegisteredCode> code;
    const DeviceKernel* kernel;  // a part of it
  };
  struct Found {
    Device device;
    std::shared_ptr<void> kernel;
  };
  std::shared_ptr<void> find(const Accelerator& accelerator, Device device) const;
  Provider provider() const;

  mutable std::shared_mutex mutex_;
  std::vector<Provider> providers_;
  std::shared_ptr<const std::string> symbol_;
  std::string name_;                  // for messages
  mutable std::vector<Found> found_;  // the kernel on each device that it was launched on
};

Launcher::Provider Launcher::provider() const {
  std::shared_lock lock(mutex_);
  if (providers_.empty()) throw UserError("the library with kernel {} is not loaded any more", *symbol_);
  return providers_.front();
}

// The number among `kernel.images` of the best image for `device`.
std::optional<uint32_t> choose_image(const DeviceCode& code, const DeviceKernel& kernel, Device device,
                                     const DeviceProperties& properties) {
  std::optional<uint32_t> best;
  for (uint32_t number : kernel.images) {
    const DeviceImage& image = code.images[number];
    if (image.device_type != device.type) continue;
    if (device.type != kDLCUDA) return number;
    const int fit = cuda_image_fit(image, properties.compute_version);
    if (fit > 0 && (!best || fit > cuda_image_fit(code.images[*best], properties.compute_version)))
      best = number;
  }
  return best;
}

std::shared_ptr<void> Launcher::find(const Accelerator& accelerator, Device device) const {
  {
    std::shared_lock lock(mutex_);
    for (const Found& found : found_) {
      if (found.device == device) return found.kernel;
    }
  }
  std::vector<Provider> providers;
  {
    std::shared_lock lock(mutex_);
    providers = providers_;
  }
  const DeviceProperties& properties = accelerator.properties(device.id);
  for (const Provider& provider : providers) {
    const DeviceKernel& kernel = *provider.kernel;
    const auto image = choose_image(provider.code->code, kernel, device, properties);
    if (!image) continue;
    const std::shared_ptr<void> program = provider.code->load(accelerator, device, *image);
    Found found{device, accelerator.find_kernel(device.id, program, kernel.symbol, kernel.params)};
    std::lock_guard lock(mutex_);
    found_.push_back(found);
    return found.kernel;
  }
  const std::string version =
      device.type == kDLCUDA ? ", compute capability " + properties.compute_version : "";
  throw UserError("the library has no code of it for this device ({}{}); its images: {}", properties.name,
                  version,
                  providers.empty() ? "none" : devices_text(*providers[0].code, *providers[0].kernel))
      .help("compile it for this device, e.g. with the target that Target.from_device(\"{}\") gives",
            device.str());
}

// Argument `position` of a kernel, for messages.
struct ArgumentName {
  const std::string& kernel;
  size_t position;
  std::string str() const { return function_detail::describe_argument(kernel, position); }
};

// The bytes of a number, as the kernel has it.  Names are made only for what is refused: a launch is short.
KernelArgument number_argument(const Value& value, DataType dtype, const ArgumentName& name) {
  KernelArgument argument{dtype, {}};
  const auto store = [&](auto number) { std::memcpy(argument.bytes.data(), &number, sizeof number); };
  if (dtype.code == DataType::kFloat) {
    const double number = value.is(ValueKind::kFloat) ? value.float_payload() : value.as_float(name.str());
    if (dtype.bits == 64)
      store(number);
    else if (dtype.bits == 32)
      store(static_cast<float>(number));
    else
      store(static_cast<uint16_t>(encode_float(number, float_format(dtype))));
    return argument;
  }
  const int64_t number = value.is(ValueKind::kInt) ? value.int_payload() : value.as_int(name.str());
  const bool is_narrow = dtype.bits < 64;
  const int64_t least = dtype.is_int() && is_narrow ? -(int64_t{1} << (dtype.bits - 1)) : 0;
  const int64_t most = !is_narrow ? INT64_MAX : (int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1;
  if (is_narrow && (number < least || number > most))
    throw UserError("{} is {}, which {} cannot hold", name.str(), number, dtype.str());
  store(number);  // little-endian: the first bytes are the narrow number
  if (is_narrow)
    std::memset(argument.bytes.data() + dtype.bits / 8, 0, static_cast<size_t>(8 - dtype.bits / 8));
  return argument;
}

KernelArgument argument_of(const Value& value, DataType dtype, Device device, const ArgumentName& name) {
  if (!dtype.is_handle()) return number_argument(value, dtype, name);
  KernelArgument argument{dtype, {}};
  void* pointer = nullptr;
  if (const TensorObject* tensor = value.tensor_object()) {
    if (Device::from_dlpack(tensor->dl.device) != device)
      throw UserError("{} is on {}, the kernel runs on {}", name.str(),
                      Device::from_dlpack(tensor->dl.device).str(), device.str());
    pointer = tensor->dl.data;
  } else if (!value.is_none()) {
    pointer = value.is(ValueKind::kPointer) ? value.as_pointer() : value.as_pointer(name.str());
  }
  std::memcpy(argument.bytes.data(), &pointer, sizeof pointer);
  return argument;
}

void check_limits(Device device, const KernelLaunch& launch, const DeviceProperties& limits) {
  constexpr const char* kAxes = "xyz";
  int64_t num_threads = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (launch.block[axis] < 1 || launch.block[axis] > limits.max_thread_dimensions[axis])
      throw UserError("threadIdx.{} has {}, {} takes 1 to {}", kAxes[axis], launch.block[axis], device.str(),
                      limits.max_thread_dimensions[axis]);
    if (launch.grid[axis] < 0 || launch.grid[axis] > limits.max_grid_dimensions[axis])
      throw UserError("blockIdx.{} has {}, {} takes 0 to {}", kAxes[axis], launch.grid[axis], device.str(),
                      limits.max_grid_dimensions[axis])
          .help("bind the loop to another axis, or split it");
    num_threads *= launch.block[axis];
  }
  if (num_threads > limits.max_threads_per_block)
    throw UserError("{} threads are more than the {} that a block of {} may have", num_threads,
                    limits.max_threads_per_block, device.str())
        .help("bind smaller loops to threadIdx");
  if (launch.dynamic_shared_bytes < 0 ||
      launch.dynamic_shared_bytes > limits.max_dynamic_shared_memory_per_block)
    throw UserError("{} bytes of dynamic shared memory, {} takes 0 to {}", launch.dynamic_shared_bytes,
                    device.str(), limits.max_dynamic_shared_memory_per_block)
        .help("use smaller tiles");
}

std::string param_texts(const DeviceKernel& kernel) {
  std::string text;
  for (DataType param : kernel.params) text += (text.empty() ? "" : ", ") + param.str();
  return text;
}

void Launcher::launch(Args args) const {
  const Provider provider = this->provider();
  const DeviceKernel& kernel = *provider.kernel;
  const std::string& name = name_;
  if (args.size() != kNumLaunchArguments + kernel.params.size())
    throw UserError("{}: got {}, expected {} of the launch and {} of the kernel ({})", name,
                    count_text(args.size(), "argument"), kNumLaunchArguments, kernel.params.size(),
                    param_texts(kernel));
  int64_t numbers[kNumLaunchArguments];
  for (size_t n = 0; n < kNumLaunchArguments; ++n) numbers[n] = args[n].as_int(name);
  const Device device{static_cast<int32_t>(numbers[0]), static_cast<int32_t>(numbers[1])};
  const Accelerator& accelerator = runtime::accelerator(device, name);
  std::vector<KernelArgument> arguments;
  arguments.reserve(kernel.params.size());
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    arguments.push_back(argument_of(args[kNumLaunchArguments + n], kernel.params[n], device, {name, n}));
  }
  KernelLaunch launch;
  launch.symbol = symbol_;
  for (size_t axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = numbers[2 + axis];
    launch.block[axis] = numbers[5 + axis];
  }
  launch.dynamic_shared_bytes = numbers[8];
  launch.arguments = arguments;
  try {
    check_limits(device, launch, accelerator.properties(device.id));
    if (std::ranges::find(launch.grid, 0) != launch.grid.end()) return;  // nothing to compute
    accelerator.launch(device.id, find(accelerator, device).get(), launch);
  } catch (Error& error) {
    error.add_prefix(launch_text(device, launch));
    throw;
  }
}

struct LauncherTable {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Launcher>> launchers;  // by key
};

// One per process, like the registry of functions; never destroyed, because libraries may be closed while the
// process ends.
LauncherTable& table() {
  static auto* const instance = new LauncherTable;
  return *instance;
}

std::string function_name(const std::string& key) { return "tilewright.kernel." + key; }

void add(const std::shared_ptr<RegisteredCode>& code, const DeviceKernel& kernel) {
  std::shared_ptr<Launcher>& launcher = table().launchers[kernel.key];
  const bool is_new = !launcher;
  if (is_new) launcher = std::make_shared<Launcher>();
  launcher->add(code, kernel);
  if (!is_new) return;
  register_function(function_name(kernel.key),
                    Function::packed(function_name(kernel.key),
                                     [launcher](Args args) -> Value {
                                       launcher->launch(args);
                                       return {};
                                     }),
                    true);
}

// Keeps code registered.
class Registration {
 public:
  explicit Registration(DeviceCode code) : code_(std::make_shared<RegisteredCode>(std::move(code))) {
    std::lock_guard lock(table().mutex);
    for (const DeviceKernel& kernel : code_->code.kernels) add(code_, kernel);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    std::lock_guard lock(table().mutex);
    for (const DeviceKernel& kernel : code_->code.kernels) {
      auto found = table().launchers.find(kernel.key);
      if (found == table().launchers.end() || found->second->remove(code_.get())) continue;
      table().launchers.erase(found);
      remove_function(function_name(kernel.key));
    }
  }

 private:
  std::shared_ptr<RegisteredCode> code_;
};

}  // namespace

std::shared_ptr<const void> register_device_code(DeviceCode code) {
  return std::make_shared<const Registration>(std::move(code));
}

}  // namespace tilewright::runtime
