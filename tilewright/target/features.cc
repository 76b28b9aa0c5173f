#include "tilewright/target/features.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "tilewright/runtime/thread_pool.h"
#include "tilewright/target/cores.h"
#include "tilewright/target/costs.h"
#include "tilewright/target/feature_table.h"

namespace tilewright::target {

static Features& part(Features& features, std::type_identity<Features>) { return features; }
static Rates& part(Features& features, std::type_identity<Rates>) { return features.rates; }
static DotInstructions& part(Features& features, std::type_identity<DotInstructions>) {
  return features.dots;
}

std::vector<FeatureRow> Features::rows(const FeatureSources& sources) const {
  const std::string common = "a common core";
  std::vector<FeatureRow> rows;
  append_rows(*this, sources, common, &rows);
  append_rows(rates, sources, common, &rows);
  append_rows(dots, sources, common, &rows);
  return rows;
}

std::string Features::str() const { return values_text(rows()); }

int64_t Features::bfloat_speedup() const {
  return dots.bfloat_tiles ? kGraphCosts.bfloat_tile_speedup : dots.bfloats ? 2 : 1;
}

int64_t Features::min_parallel_work() const {
  constexpr int64_t kElementBytes = 4;
  const double per_cycle = rates.fma_per_cycle * static_cast<double>(vector_bytes / kElementBytes);
  return static_cast<int64_t>(static_cast<double>(parallel_cycles) * per_cycle);
}

namespace {

int64_t bytes_in(int64_t cycles, int64_t bytes_per_cycle) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(cycles * bytes_per_cycle)));
}

}  // namespace

int64_t Features::far_fetch_bytes() const { return bytes_in(memory_latency, memory_bytes_per_cycle); }

int64_t Features::near_fetch_bytes() const { return bytes_in(l3_latency, l2_bytes_per_cycle); }

bool Processor::has(std::string_view feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

namespace {

class Builder : public FeatureBuilder<KnownFeatures> {
 public:
  // A number that the system tells.
  void set_from_system(int64_t Features::* member, int name) {
    const long value = sysconf(name);
    if (value > 0) set(member, static_cast<int64_t>(value), "this machine's system");
  }
};

// Who says how wide vectors are.
std::string source_of_width(const Processor& processor, const ir::Target& target) {
  if (target->attrs.get("vector-width")) return "-vector-width";
  const bool is_wide_sve = processor.triple.starts_with("aarch64") && processor.vector_bits > 128;
  if (!is_wide_sve) return "features of the processor";
  const Core* core = find_core(processor.cpu);
  return core ? std::string(core->source) : "the manual of " + processor.cpu;
}

// Sets the registers that code may name, and which of its accesses are instructions.
void set_vectors(const Processor& processor, const ir::Target& target, Builder* builder) {
  using F = Features;
  const std::string& triple = processor.triple;
  const std::string source = "features of the processor";
  builder->set(&F::vector_bytes, processor.vector_bits / 8, source_of_width(processor, target));
  // AVX-512, AArch64 and RISC-V name 32 registers, older x86 and NEON of 32 bits 16
  const bool is_x86 = triple.starts_with("x86_64"), is_riscv = triple.starts_with("riscv");
  const bool has_32 = is_x86 ? processor.has("avx512f") : triple.starts_with("aarch64") || is_riscv;
  int64_t num_registers = has_32 ? 32 : 16;
  // RISC-V without vectors: each of their elements takes a register of floats
  if (is_riscv && !processor.has("zve32f")) num_registers /= processor.vector_bits / 32;
  builder->set(&F::num_vector_registers, num_registers, source);
  // registers of NEON have no masks; those of SVE are used where they are wider
  const bool has_wide_sve = triple.starts_with("aarch64") && processor.vector_bits > 128;
  const bool has_masks = is_x86 ? processor.has("avx") : has_wide_sve || (is_riscv && processor.has("v"));
  // codegen/llvm/lane_products.h
  if (has_wide_sve) builder->set(&F::steps_in_registers, int64_t{4}, source);
  builder->set(&F::has_masks, has_masks, source);
  // AMD's cores, which alone have sse4a, have few places for lines under way, and lose more than they gain
  // (layer norm of 4096 x 1024 on a Zen 4: 1,090 us, with it 1,390; on a Xeon rows of numpy's arrays 2,200,
  // with it 1,400)
  if (is_x86) builder->set(&F::fetches_writes, !processor.has("sse4a"), source);
}

void set_dots(const Processor& processor, Builder* builder) {
  using D = DotInstructions;
  const auto set = [&](bool D::* member, bool value) {
    builder->set(member, value, "features of the processor");
  };
  const bool is_x86 = processor.triple.starts_with("x86_64");
  // of NEON an extension, of SVE, whose vectors alone are wider, a part
  const bool has_dotprod =
      processor.triple.starts_with("aarch64") && (processor.has("dotprod") || processor.vector_bits > 128);
  const bool has_vnni = is_x86 && (processor.has("avx512vnni") || processor.has("avxvnni"));
  set(&D::mixed_bytes, has_vnni);
  set(&D::signed_bytes, has_vnni || has_dotprod);
  set(&D::unsigned_bytes, has_dotprod);
  set(&D::bfloats, is_x86 && processor.has("avx512bf16"));
  set(&D::byte_tiles, is_x86 && processor.has("amx-int8"));
  set(&D::bfloat_tiles, is_x86 && processor.has("amx-bf16"));
}

void set_rates(const Rates& rates, const std::string& source, Builder* builder) {
  std::apply([&](const auto&... field) { (builder->set(field.member, rates.*field.member, source), ...); },
             Rates::fields());
}

// The figures of the core's manual, and LLVM's rates where it gives none.
void set_core(const Processor& processor, Builder* builder) {
  const Core* core = find_core(processor.cpu);
  const std::optional<Rates> rates = core ? core->rates(processor.vector_bits) : std::nullopt;
  if (rates)
    set_rates(*rates, std::string(core->source), builder);
  else if (processor.rates)
    set_rates(*processor.rates, "LLVM's scheduling model of " + processor.cpu, builder);
  if (!core) return;
  const std::string source(core->source);
  builder->set(&Features::l1_bytes, core->l1_bytes, source);
  builder->set(&Features::l1_ways, core->l1_ways, source);
  builder->set(&Features::l2_bytes, core->l2_bytes, source);
  if (core->line_bytes) builder->set(&Features::line_bytes, core->line_bytes, source);
  if (core->l2_bytes_per_cycle) builder->set(&Features::l2_bytes_per_cycle, core->l2_bytes_per_cycle, source);
}

// True if the target names a processor of the table: its caches are those of the manual, whatever machine compiles.
bool is_of_known_core(const Processor& processor, const ir::Target& target) {
  const std::string named = target->attrs.get_string("mcpu", "native");
  return named != "native" && find_core(processor.cpu) != nullptr;
}

}  // namespace

KnownFeatures features_of(const Processor& processor, const ir::Target& target) {
  using F = Features;
  Builder builder;
  set_vectors(processor, target, &builder);
  set_dots(processor, &builder);
  set_core(processor, &builder);
  if (processor.is_host && !is_of_known_core(processor, target)) {
    builder.set_from_system(&F::l1_bytes, _SC_LEVEL1_DCACHE_SIZE);
    builder.set_from_system(&F::l1_ways, _SC_LEVEL1_DCACHE_ASSOC);
    builder.set_from_system(&F::l2_bytes, _SC_LEVEL2_CACHE_SIZE);
    builder.set_from_system(&F::line_bytes, _SC_LEVEL1_DCACHE_LINESIZE);
  }
  if (processor.is_host)
    builder.set(&F::num_cores, int64_t{runtime::num_threads()}, "threads of this process");
  builder.set_from_target(&F::l1_bytes, target, "l1_cache_size_bytes");
  builder.set_from_target(&F::l2_bytes, target, "l2_cache_size_bytes");
  builder.set_from_target(&F::num_cores, target, "num-cores");
  return std::move(builder.known);
}

}  // namespace tilewright::target
