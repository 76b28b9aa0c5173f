// Figures of GPUs by architecture.
#include "tilewright/target/gpu_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "tilewright/support/error.h"
#include "tilewright/target/architectures.h"
#include "tilewright/target/feature_table.h"

namespace tilewright::target {

static GpuFeatures& part(GpuFeatures& features, std::type_identity<GpuFeatures>) { return features; }
static TensorCores& part(GpuFeatures& features, std::type_identity<TensorCores>) {
  return features.tensor_cores;
}

namespace {

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;

// "Technical Specifications per Compute Capability" and "Arithmetic Instructions"; memory, L2 and the number of
// multiprocessors are those of the common chip, by its maker's whitepaper.
constexpr std::string_view kGuide = "CUDA C++ Programming Guide, compute capability",
                           kChip = "NVIDIA's whitepaper of";

/// A compute capability, and the chip that stands for it.
struct Capability {
  int64_t number;  // 80: 8.0
  int64_t blocks_per_sm, threads_per_sm;
  int64_t registers_per_block;
  int64_t shared_per_sm, most_shared_per_block;
  int64_t fma_per_sm;
  std::string_view chip;
  int64_t num_sms, l2_bytes, l2_bytes_per_cycle;
  int64_t memory_bytes_per_cycle;  // bandwidth by the clock that is promised
  int64_t clock_mhz;               // which is that of boost, of Jetson the highest
};

// sorted by number
constexpr Capability kCapabilities[] = {
    {37, 16, 2048, 65536, 112 * kKiB, 48 * kKiB, 192, "Tesla K80", 13, 1536 * kKiB, 512, 274, 875},
    {50, 32, 2048, 65536, 64 * kKiB, 48 * kKiB, 128, "GeForce GTX 750 Ti", 5, 2 * kMiB, 512, 79, 1085},
    {52, 32, 2048, 65536, 96 * kKiB, 48 * kKiB, 128, "GeForce GTX 980", 16, 2 * kMiB, 512, 184, 1216},
    {53, 32, 2048, 32768, 64 * kKiB, 48 * kKiB, 128, "Jetson Nano", 1, 256 * kKiB, 64, 27, 922},
    {60, 32, 2048, 65536, 64 * kKiB, 48 * kKiB, 64, "Tesla P100", 56, 4 * kMiB, 1024, 494, 1480},
    {61, 32, 2048, 65536, 96 * kKiB, 48 * kKiB, 128, "GeForce GTX 1080 Ti", 28, 2816 * kKiB, 1024, 306, 1582},
    {62, 32, 2048, 32768, 64 * kKiB, 48 * kKiB, 128, "Jetson TX2", 2, 512 * kKiB, 64, 46, 1465},
    {70, 32, 2048, 65536, 96 * kKiB, 96 * kKiB, 64, "Tesla V100", 80, 6 * kMiB, 2048, 588, 1530},
    {72, 32, 2048, 65536, 96 * kKiB, 96 * kKiB, 64, "Jetson AGX Xavier", 8, 512 * kKiB, 256, 100, 1377},
    {75, 16, 1024, 65536, 64 * kKiB, 64 * kKiB, 64, "T4", 40, 4 * kMiB, 1024, 201, 1590},
    {80, 32, 2048, 65536, 164 * kKiB, 163 * kKiB, 64, "A100", 108, 40 * kMiB, 5120, 1103, 1410},
    {86, 16, 1536, 65536, 100 * kKiB, 99 * kKiB, 128, "GeForce RTX 3090", 82, 6 * kMiB, 2048, 552, 1695},
    {87, 16, 1536, 65536, 164 * kKiB, 163 * kKiB, 128, "Jetson AGX Orin", 16, 4 * kMiB, 512, 157, 1300},
    {89, 24, 1536, 65536, 100 * kKiB, 99 * kKiB, 128, "GeForce RTX 4090", 128, 72 * kMiB, 5120, 400, 2520},
    {90, 32, 2048, 65536, 228 * kKiB, 227 * kKiB, 128, "H100", 132, 50 * kMiB, 5120, 1835, 1830},
    {100, 32, 2048, 65536, 228 * kKiB, 227 * kKiB, 128, "B200", 148, 126 * kMiB, 5120, 4070, 1965},
    {120, 24, 1536, 65536, 100 * kKiB, 99 * kKiB, 128, "GeForce RTX 5090", 170, 96 * kMiB, 5120, 743, 2407},
};

// The newest one that is not newer than `number`; the oldest if all are.
const Capability& capability_of(int64_t number) {
  const auto* next =
      std::upper_bound(std::begin(kCapabilities), std::end(kCapabilities), number,
                       [](int64_t value, const Capability& each) { return value < each.number; });
  return next == std::begin(kCapabilities) ? *next : *(next - 1);
}

// 90 of "sm_90a".
int64_t number_of_arch(const std::string& arch) {
  int64_t number = 0;
  const std::string_view digits = arch.starts_with("sm_") ? std::string_view(arch).substr(3) : "";
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view rest = digits.substr(static_cast<size_t>(end - digits.data()));
  const bool is_known_end = rest.empty() || rest == "a" || rest == "f";
  if (digits.empty() || error != std::errc() || !is_known_end)
    throw UserError("target cuda: -arch is \"{}\", expected the name of an architecture", arch)
        .help("write for example -arch=sm_80");
  return number;
}

// What code for several architectures may count on: the figures of the oldest, limits and instructions that all have.
GpuFeatures together(GpuFeatures oldest, const GpuFeatures& other) {
  for (int64_t GpuFeatures::* limit :
       {&GpuFeatures::registers_per_block, &GpuFeatures::most_shared_bytes_per_block,
        &GpuFeatures::shared_bytes_per_sm, &GpuFeatures::max_threads_per_sm, &GpuFeatures::max_blocks_per_sm})
    oldest.*limit = std::min(oldest.*limit, other.*limit);
  std::apply(
      [&](const auto&... field) {
        ((oldest.tensor_cores.*field.member &= other.tensor_cores.*field.member), ...);
      },
      TensorCores::fields());
  return oldest;
}

TensorCores tensor_cores_of(int64_t number) {
  TensorCores cores;
  cores.float16 = number >= 75;  // before, in parts of 8 x 8 results, which nothing here uses
  cores.int8 = number >= 80;
  cores.bfloat16 = cores.tensor_float32 = number >= 80;
  cores.float64 = number == 80 || number == 90 || number == 100;
  cores.float8 = number >= 89;
  return cores;
}

// Dense products of float16 by the chip's peak, its clock and its multiprocessors.
int64_t tensor_fma_of(int64_t number) {
  switch (number) {
    case 80:
    case 87: return 1024;
    case 90: return 2048;
    case 100: return 4096;
    default: return number >= 70 ? 512 : 0;
  }
}

using Builder = FeatureBuilder<KnownGpuFeatures>;

void set_capability(int64_t number, Builder* builder) {
  using G = GpuFeatures;
  const Capability& known = capability_of(number);
  const std::string guide = fmt::format("{} {}.{}", kGuide, known.number / 10, known.number % 10),
                    chip = fmt::format("{} {}", kChip, known.chip);
  builder->set(&G::max_threads_per_block, int64_t{1024}, guide);
  builder->set(&G::max_threads_per_sm, known.threads_per_sm, guide);
  builder->set(&G::max_blocks_per_sm, known.blocks_per_sm, guide);
  builder->set(&G::registers_per_sm, int64_t{known.number == 37 ? 131072 : 65536}, guide);
  builder->set(&G::registers_per_block, known.registers_per_block, guide);
  builder->set(&G::max_registers_per_thread, int64_t{255}, guide);
  builder->set(&G::shared_bytes_per_block, 48 * kKiB, guide);
  builder->set(&G::most_shared_bytes_per_block, known.most_shared_per_block, guide);
  builder->set(&G::shared_bytes_per_sm, known.shared_per_sm, guide);
  builder->set(&G::fma_per_cycle_per_sm, known.fma_per_sm, guide);
  builder->set(&G::has_warp_shuffle, true, guide);
  builder->set(&G::has_async_copies, known.number >= 80, guide);
  builder->set(&G::num_sms, known.num_sms, chip);
  builder->set(&G::l2_bytes, known.l2_bytes, chip);
  builder->set(&G::l2_bytes_per_cycle, known.l2_bytes_per_cycle, chip);
  builder->set(&G::memory_bytes_per_cycle, known.memory_bytes_per_cycle, chip);
  builder->set(&G::tensor_fma_per_cycle_per_sm, tensor_fma_of(known.number), chip);
  const TensorCores cores = tensor_cores_of(known.number);
  std::apply([&](const auto&... field) { (builder->set(field.member, cores.*field.member, guide), ...); },
             TensorCores::fields());
}

// The compute capability that features are of: that of the oldest architecture of `target`.
int64_t oldest_number(const ir::Target& target) {
  constexpr int64_t kCommon = 75;  // the oldest that CUDA 13 compiles for
  int64_t oldest = INT64_MAX;
  for (const std::string& each : cuda_architectures(target)) oldest = std::min(oldest, number_of_arch(each));
  return oldest == INT64_MAX ? kCommon : oldest;
}

void set_capabilities(const ir::Target& target, Builder* builder) {
  set_capability(oldest_number(target), builder);
  for (const std::string& each : cuda_architectures(target)) {
    Builder other;
    set_capability(number_of_arch(each), &other);
    builder->known.features = together(builder->known.features, other.known.features);
  }
}

// "Metal Feature Set Tables": GPUs of families Apple7 and later, a chip of 8 cores.
void set_metal(Builder* builder) {
  using G = GpuFeatures;
  const std::string source = "Apple's Metal Feature Set Tables, family Apple7";
  builder->set(&G::max_threads_per_block, int64_t{1024}, source);
  builder->set(&G::shared_bytes_per_block, 32 * kKiB, source);
  builder->set(&G::most_shared_bytes_per_block, 32 * kKiB, source);
  builder->set(&G::has_warp_shuffle, true, source);
}

// What attributes say goes before all else.
void set_attributes(const ir::Target& target, Builder* builder) {
  using G = GpuFeatures;
  builder->set_from_target(&G::warp_size, target, "thread_warp_size");
  builder->set_from_target(&G::max_threads_per_block, target, "max_num_threads");
  builder->set_from_target(&G::max_threads_per_block, target, "max_threads_per_block");
  builder->set_from_target(&G::max_threads_per_sm, target, "max_threads_per_multiprocessor");
  builder->set_from_target(&G::registers_per_block, target, "registers_per_block");
  builder->set_from_target(&G::shared_bytes_per_block, target, "max_shared_memory_per_block");
  builder->set_from_target(&G::shared_bytes_per_sm, target, "max_shared_memory_per_multiprocessor");
  builder->set_from_target(&G::num_sms, target, "num-cores");
  builder->set_from_target(&G::l2_bytes, target, "l2_cache_size_bytes");
  builder->set_from_target(&G::allow_tf32, target, "allow_tf32");
  const GpuFeatures& known = builder->known.features;
  if (known.most_shared_bytes_per_block < known.shared_bytes_per_block)
    builder->set(&G::most_shared_bytes_per_block, known.shared_bytes_per_block,
                 "-max_shared_memory_per_block");
  if (known.max_threads_per_sm < known.max_threads_per_block)
    builder->set(&G::max_threads_per_sm, known.max_threads_per_block, "max_threads_per_block");
}

int64_t rounded_up(int64_t value, int64_t part) { return (value + part - 1) / part * part; }

}  // namespace

int64_t GpuFeatures::blocks_per_sm(int64_t threads, int64_t registers_per_thread,
                                   int64_t shared_bytes) const {
  constexpr int64_t kRegistersPart = 256, kSharedPart = kKiB;
  const int64_t warps = rounded_up(std::max<int64_t>(threads, 1), warp_size) / warp_size;
  const int64_t registers = warps * rounded_up(registers_per_thread * warp_size, kRegistersPart);
  if (threads > max_threads_per_block || registers_per_thread > max_registers_per_thread ||
      registers > registers_per_block || shared_bytes > most_shared_bytes_per_block)
    return 0;
  int64_t blocks = std::min(max_blocks_per_sm, max_threads_per_sm / (warps * warp_size));
  if (registers > 0) blocks = std::min(blocks, registers_per_sm / registers);
  if (shared_bytes > 0)
    blocks = std::min(blocks, shared_bytes_per_sm / rounded_up(shared_bytes, kSharedPart));
  return blocks;
}

std::vector<FeatureRow> GpuFeatures::rows(const FeatureSources& sources) const {
  const std::string common = "a common GPU";
  std::vector<FeatureRow> rows;
  append_rows(*this, sources, common, &rows);
  append_rows(tensor_cores, sources, common, &rows);
  return rows;
}

std::string GpuFeatures::str() const { return values_text(rows()); }

bool is_gpu(const ir::Target& target) {
  return target->kind_name == "cuda" || target->kind_name == "opencl" || target->kind_name == "metal";
}

KnownGpuFeatures gpu_features_of(const ir::Target& target) {
  if (!is_gpu(target)) throw UserError("target {} is no GPU", target->kind_name);
  Builder builder;
  if (target->kind_name == "cuda")
    set_capabilities(target, &builder);
  else if (target->kind_name == "metal")
    set_metal(&builder);
  set_attributes(target, &builder);
  return std::move(builder.known);
}

std::vector<std::string> cuda_architectures(const ir::Target& target) {
  std::vector<std::string> found;
  if (!target->attrs.get("arch")) return found;
  const std::string text(target->attrs.get_string("arch", ""));
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    (void)number_of_arch(found.back());
    if (std::ranges::count(found, found.back()) > 1)
      throw UserError("target cuda: -arch is \"{}\", which names {} twice", text, found.back());
    begin = end + 1;
  }
  return found;
}

double clock_hz(const ir::Target& target) {
  constexpr double kCommon = 1e9;
  if (target->kind_name != "cuda") return kCommon;
  return static_cast<double>(capability_of(oldest_number(target)).clock_mhz) * 1e6;
}

}  // namespace tilewright::target
