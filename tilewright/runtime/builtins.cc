#include "tilewright/runtime/builtins.h"

#include <array>
#include <cstdio>
#include <set>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/device/device_workspace.h"
#include "tilewright/runtime/scalar.h"
#include "tilewright/runtime/value_text.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

// The text of the arguments from `first` on, the first of which is the format.
std::string text_of(Args args, size_t first, const char* what) {
  if (args.size() <= first) throw UserError("{}: the format is missing", what);
  return format_values(args[first].as_string("format"), args.subspan(first + 1));
}

Value print_values(Args args) {
  const std::string text = text_of(args, 0, kPrintFunction) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return {};
}

Value assert_values(Args args) {
  const std::string text = text_of(args, 1, kAssertFunction);
  if (!integer_of(args[0], "the condition of an assertion"))
    throw UserError("assertion failed{}{}", text.empty() ? "" : ": ", text);
  return {};
}

Value copy_to_device(Args args) {
  builtin::require_arguments(kCopyFunction, args, 2);
  if (args.size() == 2) return args[0];
  args[2].as_tensor(kCopyFunction).copy_from(args[0].as_tensor(kCopyFunction));
  return {};
}

Value workspace(int64_t type, int64_t id, int64_t slot, int64_t bytes) {
  const Device device{static_cast<int32_t>(type), static_cast<int32_t>(id)};
  return Value::pointer(device_workspace(device, slot, bytes));
}

// These functions read elements on the host.
void require_host(std::string_view name, Args args) {
  for (size_t position = 0; position < args.size(); ++position) {
    const TensorObject* tensor = args[position].tensor_object();
    if (!tensor || tensor->dl.device.device_type == kDLCPU) continue;
    throw UserError("{}: argument {} is on {}, and this function runs on the CPU", name, position + 1,
                    Device::from_dlpack(tensor->dl.device).str())
        .help("copy it there: x.to(\"cpu\")");
  }
}

}  // namespace

void builtin::require_arguments(std::string_view name, Args args, size_t least) {
  if (args.size() < least)
    throw UserError("{}: {} argument{} given, expected at least {}", name, args.size(),
                    args.size() == 1 ? " is" : "s are", least)
        .help(
            "a tensor to write is given only where the shape of the result is known when a graph is "
            "compiled: R.match_cast says it");
}

namespace {

std::array<std::span<const builtin::Entry>, 12> all_entries() {
  using namespace builtin;
  return {sort_entries(),   topk_entries(),        scatter_entries(),  search_entries(),
          box_entries(),    region_entries(),      describe_entries(), list_entries(),
          random_entries(), determinant_entries(), string_entries(),   string_text_entries()};
}

}  // namespace

bool is_host_function(std::string_view name) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all = {kPrintFunction, kAssertFunction};
    for (const std::span<const builtin::Entry> entries : all_entries()) {
      for (const builtin::Entry& entry : entries) all.insert(entry.name);
    }
    return all;
  }();
  return names.contains(name);
}

std::vector<Function> builtin_functions() {
  std::vector<Function> functions{
      Function::packed(kPrintFunction, &print_values), Function::packed(kAssertFunction, &assert_values),
      Function::packed(kCopyFunction, &copy_to_device), Function::typed(kDeviceWorkspace, &workspace)};
  for (const std::span<const builtin::Entry> entries : all_entries()) {
    for (const builtin::Entry& entry : entries)
      functions.push_back(Function::packed(std::string(entry.name), [&entry](Args args) {
        builtin::require_arguments(entry.name, args, entry.num_args);
        require_host(entry.name, args);
        return entry.body(args);
      }));
  }
  return functions;
}

}  // namespace tilewright::runtime
