#include "tilewright/target/features.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tilewright/runtime/thread_pool.h"
#include "tilewright/target/cores.h"

namespace tilewright::target {
namespace {

// What the system says of a cache, or `otherwise` where it says nothing.
int64_t of_system(int name, int64_t otherwise) {
  const long value = sysconf(name);
  return value > 0 ? value : otherwise;
}

template <class T>
void append(const T& description, std::vector<FeatureRow>* rows) {
  std::apply(
      [&](const auto&... field) {
        (rows->push_back({field.name, description.*field.member, field.unit, field.doc}), ...);
      },
      T::fields());
}

}  // namespace

std::vector<FeatureRow> Features::rows() const {
  std::vector<FeatureRow> rows;
  append(*this, &rows);
  append(dots, &rows);
  return rows;
}

std::string Features::str() const {
  std::string text;
  for (const FeatureRow& row : rows())
    std::visit([&](auto value) { text += fmt::format("{} ", value); }, row.value);
  return text;
}

bool Processor::has(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

namespace {

// What code may name and which of its accesses are instructions.
void set_vectors(const Processor& processor, Features* features) {
  const std::string& triple = processor.triple;
  features->vector_bytes = processor.vector_bits / 8;
  // AVX-512, AArch64 and RISC-V name 32 registers, older x86 and NEON of 32 bits 16
  const bool is_x86 = triple.starts_with("x86_64"), is_riscv = triple.starts_with("riscv");
  const bool has_32 = is_x86 ? processor.has("avx512f") : triple.starts_with("aarch64") || is_riscv;
  features->num_vector_registers = has_32 ? 32 : 16;
  // RISC-V without vectors: each of their elements takes a register of floats
  if (is_riscv && !processor.has("zve32f")) features->num_vector_registers /= features->vector_bytes / 4;
  features->has_masks = is_x86 && processor.has("avx");
  // Those of AMD, which alone have sse4a, have fewer places for lines under way than they lose by it (layer
  // norm of 4096 x 1024 on a Zen 4: 1,090 us, with it 1,390; on a Xeon rows of numpy's arrays 2,200, with
  // it 1,400)
  if (is_x86) features->fetches_writes = !processor.has("sse4a");
}

DotInstructions dots_of(const Processor& processor) {
  DotInstructions dots;
  if (processor.triple.starts_with("x86_64")) {
    dots.mixed_bytes = dots.signed_bytes = processor.has("avx512vnni") || processor.has("avxvnni");
    dots.bfloats = processor.has("avx512bf16");
    dots.byte_tiles = processor.has("amx-int8");
    dots.bfloat_tiles = processor.has("amx-bf16");
  } else if (processor.triple.starts_with("aarch64")) {
    dots.signed_bytes = dots.unsigned_bytes = processor.has("dotprod");
  }
  return dots;
}

void set_core(const Core& core, Features* features) {
  features->l1_bytes = core.l1_bytes;
  features->l1_ways = core.l1_ways;
  features->l2_bytes = core.l2_bytes;
}

}  // namespace

Features features_of(const Processor& processor, const ir::Target& target) {
  Features features;
  set_vectors(processor, &features);
  features.dots = dots_of(processor);
  if (const Core* core = find_core(processor.cpu)) set_core(*core, &features);
  if (processor.is_host) {
    features.l1_bytes = of_system(_SC_LEVEL1_DCACHE_SIZE, features.l1_bytes);
    features.l1_ways = of_system(_SC_LEVEL1_DCACHE_ASSOC, features.l1_ways);
    features.l2_bytes = of_system(_SC_LEVEL2_CACHE_SIZE, features.l2_bytes);
    features.num_cores = runtime::num_threads();
  }
  features.l1_bytes = target->attrs.get_int("l1_cache_size_bytes", features.l1_bytes);
  features.l2_bytes = target->attrs.get_int("l2_cache_size_bytes", features.l2_bytes);
  features.num_cores = target->attrs.get_int("num-cores", features.num_cores);
  return features;
}

}  // namespace tilewright::target
