// Functions over compiled code, and the registry.
#include "tilewright/runtime/function.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "tilewright/runtime/builtins.h"
#include "tilewright/runtime/error_state.h"
#include "tilewright/runtime/module.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::runtime {
namespace {

class KernelFunction final : public FunctionObject {
 public:
  KernelFunction(std::string name, TilewrightKernel code, void* state, std::shared_ptr<const void> owner,
                 KernelParams described)
      : FunctionObject(std::move(name)), owner_(std::move(owner)) {
    kernel = code;
    self = state;
    params = std::move(described);
  }

  Value call(Args args) const override {
    constexpr size_t kFew = 16;
    std::array<TilewrightAny, kFew> few;
    std::vector<TilewrightAny> many(args.size() > kFew ? args.size() : 0);
    TilewrightAny* anys = many.empty() ? few.data() : many.data();
    for (size_t position = 0; position < args.size(); ++position) {
      anys[position] = to_any(args[position]);
      if (!params.is_written(position)) continue;
      const TensorObject* tensor = args[position].tensor_object();
      if (tensor && tensor->read_only) params.refuse_read_only(name, position);
    }
    TilewrightAny result{};
    if (kernel(self, anys, static_cast<int32_t>(args.size()), &result) != 0) raise_kernel_error(*this);
    return result.type_index == kTilewrightNone ? Value() : from_any(result);
  }

 private:
  std::shared_ptr<const void> owner_;
};

struct Registry {
  Registry() {
    for (Function& function : builtin_functions()) functions.emplace(function.name(), std::move(function));
  }
  std::shared_mutex mutex;
  std::map<std::string, Function, std::less<>> functions;
  std::atomic<uint64_t> generation{1};
};

// One per process on purpose: compiled code finds functions by name.  Never destroyed: functions may hold
// Python objects, and the interpreter may be gone before static destructors run.
Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

}  // namespace

Function Function::from_kernel(std::string name, TilewrightKernel kernel, void* self,
                               std::shared_ptr<const void> owner, KernelParams params) {
  return Function(Ref<FunctionObject>(
      new KernelFunction(std::move(name), kernel, self, std::move(owner), std::move(params))));
}

namespace {
// The next step after what lower/functions/entry.cc says of strides.
std::string what_makes_compact(const std::string& text) {
  return text.ends_with(" is not compact in row-major order") ? "; numpy.ascontiguousarray(x) is compact"
                                                              : "";
}
}  // namespace

void raise_kernel_error(const FunctionObject& function) {
  try {
    raise_current_error(function.name);
  } catch (UserError& error) {
    // messages from the entry of a kernel begin with the name of the function; bounds checks bring their own
    // help
    const std::string signature = function.params.signature(function.name);
    const bool has_help = !error.help_text().empty() || error.text().find("\nhelp: ") != std::string::npos;
    if (!signature.empty() && !has_help && error.text().starts_with(function.name + ": "))
      error.set_help("the function is " + signature + what_makes_compact(error.text()));
    throw;
  }
}

void register_function(std::string_view name, Function function, bool override) {
  if (name.empty()) throw UserError("register_function: the name is empty");
  if (!function) throw UserError("register_function: no function was given for \"{}\"", name);
  Function replaced;  // released after the lock: its destructor may run foreign code
  std::unique_lock lock(registry().mutex);
  auto [entry, is_new] = registry().functions.try_emplace(std::string(name), function);
  if (!is_new && !override) {
    throw UserError("register_function: \"{}\" is registered already", name)
        .help("pass override=True to replace it");
  }
  if (!is_new) {
    replaced = entry->second;
    entry->second = std::move(function);
  }
  registry().generation.fetch_add(1, std::memory_order_release);
}

Function find_function(std::string_view name) {
  std::shared_lock lock(registry().mutex);
  auto entry = registry().functions.find(name);
  return entry == registry().functions.end() ? Function() : entry->second;
}

Function get_function(std::string_view name) {
  if (Function function = find_function(name)) return function;
  const std::vector<std::string> names = list_functions();
  throw UserError("there is no registered function \"{}\"", name)
      .help("{}", nearest_names_text(name, std::vector<std::string_view>(names.begin(), names.end())));
}

bool remove_function(std::string_view name) {
  Function removed;
  std::unique_lock lock(registry().mutex);
  auto entry = registry().functions.find(name);
  if (entry == registry().functions.end()) return false;
  removed = std::move(entry->second);
  registry().functions.erase(entry);
  registry().generation.fetch_add(1, std::memory_order_release);
  return true;
}

std::vector<std::string> list_functions() {
  std::shared_lock lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [name, function] : registry().functions) names.push_back(name);
  return names;
}

uint64_t registry_generation() { return registry().generation.load(std::memory_order_acquire); }

namespace function_detail {

std::string describe_argument(const std::string& function, size_t position) {
  return fmt::format("{}: argument {}", function, position + 1);
}

void wrong_count(const std::string& function, size_t got, size_t expected) {
  throw UserError("{}: got {}, expected {}", function, count_text(got, "argument"), expected);
}

}  // namespace function_detail
}  // namespace tilewright::runtime
