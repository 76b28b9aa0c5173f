#include "tilewright/driver/machine.h"

#include <unistd.h>

#include "tilewright/runtime/thread_pool.h"

namespace tilewright::driver {
namespace {

// What the system says of a cache, or the default where it says nothing.
int64_t cache_bytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

// What the target says, from `least` to `most`, or `otherwise`.
int64_t stated(const ir::Target& target, const std::string& name, int64_t otherwise, int64_t least,
               int64_t most, std::string_view unit) {
  const int64_t value = target->attrs.get_int(name, otherwise);
  if (value >= least && value <= most) return value;
  throw UserError("target {}: -{} must be {} to {}{}, but is {}", target->kind_name, name, least, most, unit,
                  value);
}
int64_t stated_bytes(const ir::Target& target, const std::string& name, int64_t otherwise) {
  return stated(target, name, otherwise, 1 << 10, 1 << 30, " bytes");
}

}  // namespace

schedule::Machine machine_of(const Processor& processor, const ir::Target& target) {
  schedule::Machine machine;
  machine.vector_bytes = processor.vector_bits / 8;
  // AVX-512 and AArch64 name 32 registers, older x86 16
  const bool is_x86 = processor.triple.starts_with("x86_64");
  const bool has_32 = is_x86 ? processor.has("avx512f") : processor.triple.starts_with("aarch64");
  machine.num_vector_registers = has_32 ? 32 : 16;
  machine.has_masks = is_x86 && processor.has("avx");
  if (is_x86) {
    // Those of AMD, which alone have sse4a, have fewer places for lines under way than they lose by it (layer
    // norm of 4096 x 1024 on a Zen 4: 1,090 us, with it 1,390; on a Xeon rows of numpy's arrays 2,200, with
    // it 1,400)
    machine.fetches_writes = !processor.has("sse4a");
    machine.dots.mixed_bytes = machine.dots.signed_bytes =
        processor.has("avx512vnni") || processor.has("avxvnni");
    machine.dots.bfloats = processor.has("avx512bf16");
    machine.dots.byte_tiles = processor.has("amx-int8");
    machine.dots.bfloat_tiles = processor.has("amx-bf16");
  } else if (processor.triple.starts_with("aarch64")) {
    machine.dots.signed_bytes = machine.dots.unsigned_bytes = processor.has("dotprod");
  }
  if (processor.is_host) {
    machine.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, machine.l1_bytes);
    machine.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, machine.l2_bytes);
    machine.num_cores = runtime::num_threads();
  }
  machine.l1_bytes = stated_bytes(target, "l1_cache_size_bytes", machine.l1_bytes);
  machine.l2_bytes = stated_bytes(target, "l2_cache_size_bytes", machine.l2_bytes);
  machine.num_cores = stated(target, "num-cores", machine.num_cores, 1, runtime::kMaxThreads, "");
  return machine;
}

}  // namespace tilewright::driver
