#include "tilewright/runtime/host.h"

#include <vector>

#include "tilewright/runtime/error_state.h"
#include "tilewright/runtime/function.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/workspace.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

int32_t host_parallel_for(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain) {
  return parallel_for(body, closure, extent, grain);
}

void host_set_error(const char* kind, const char* message) { set_current_error(kind, message); }

// Raises if the callee kept a tensor: a tensor that a kernel passes is a view of memory that is freed when
// the kernel returns.
void require_not_kept(const char* name, std::vector<Value>& values) {
  for (size_t position = 0; position < values.size(); ++position) {
    const TensorObject* tensor = values[position].tensor_object();
    if (!tensor) continue;
    if (tensor->refs.load() == 1 && tensor->storage.get()->refs.load() == 1) continue;
    throw UserError("{} kept argument {}, a tensor that is valid only during the call", name, position + 1)
        .help("keep a copy of it");
  }
}

void call(const char* name, const TilewrightAny* args, int32_t num_args, TilewrightAny* result) {
  const Function function = get_function(name);
  std::vector<Value> values;
  for (int32_t n = 0; n < num_args; ++n) values.push_back(from_any(args[n]));
  const Value returned = function.call(values);
  require_not_kept(name, values);
  if (returned.kind() >= ValueKind::kString) {
    throw UserError("{} returned {}, which a compiled kernel cannot take", name,
                    kind_with_article(returned.kind()));
  }
  *result = to_any(returned);
}

int32_t host_call_packed(const char* name, const TilewrightAny* args, int32_t num_args,
                         TilewrightAny* result) {
  try {
    call(name, args, num_args, result);
    return 0;
  } catch (...) {
    set_current_error(std::current_exception());
    return -1;
  }
}

constexpr TilewrightHost kHost = {
    TILEWRIGHT_KERNEL_ABI_VERSION,
    5,
    host_parallel_for,
    host_set_error,
    [](uint64_t bytes, uint64_t alignment) -> void* { return workspace_alloc(bytes, alignment); },
    [](void* pointer) { workspace_free(pointer); },
    host_call_packed};

}  // namespace

const TilewrightHost* host_services() { return &kHost; }

}  // namespace tilewright::runtime
