#include "tilewright/target/vector_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "tilewright/support/error.h"

namespace tilewright::target {
namespace {

// NEON, wasm and SSE; each register of SVE and of RVV (extension V) has as many.
constexpr int64_t kLeastBits = 128;
// Registers of SVE.  RVV allows more, which no processor has.
// Source: Arm Architecture Reference Manual for A-profile, section A1.4; RISC-V "V" Vector Extension,
// section 2.
constexpr int64_t kMostBits = 2048;

struct SveCore {
  std::string_view name;  // LLVM's -mcpu
  int64_t bits;
};

// By the guides that cores.cc names, and the A64FX Microarchitecture Manual; of others 128 bits are assumed.
constexpr SveCore kSveCores[] = {
    {"a64fx", 512},       {"neoverse-n2", 128}, {"neoverse-n3", 128},
    {"neoverse-v1", 256}, {"neoverse-v2", 128}, {"neoverse-v3", 128},
};

const SveCore* find_sve_core(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSveCores), std::end(kSveCores),
                                   [&](const SveCore& core) { return core.name == name; });
  return found == std::end(kSveCores) ? nullptr : found;
}

bool is_x86(const Processor& processor) {
  const std::string_view triple = processor.triple;
  return triple.starts_with("x86_64") || (triple.starts_with("i") && triple.substr(2).starts_with("86"));
}
// Little-endian: LLVM keeps no vectors in registers of SVE otherwise.
bool is_aarch64(const Processor& processor) { return processor.triple.starts_with("aarch64-"); }
bool is_riscv(const Processor& processor) { return processor.triple.starts_with("riscv"); }
bool has_sve(const Processor& processor) { return is_aarch64(processor) && processor.has("sve"); }
bool has_rvv(const Processor& processor) { return is_riscv(processor) && processor.has("zvl128b"); }

// The width that the features zvl128b, zvl256b, ... of RISC-V promise.
int64_t promised_bits(const Processor& processor) {
  int64_t bits = kLeastBits;
  while (bits < kMostBits && processor.has(fmt::format("zvl{}b", 2 * bits))) bits *= 2;
  return bits;
}

// The width that -vector-width gives, which the registers must be able to have.
int64_t wanted_bits(const Processor& processor, const ir::Target& target) {
  const int64_t bits = target->attrs.get_int("vector-width", 0);
  if (bits < kLeastBits || bits > kMostBits || !std::has_single_bit(static_cast<uint64_t>(bits)))
    throw UserError("target {}: -vector-width must be a power of two from {} to {}, but is {}",
                    target->kind_name, kLeastBits, kMostBits, bits)
        .help("leave it out for the widest vectors that are known to be fast");
  if (bits == kLeastBits) return bits;
  const SveCore* core = has_sve(processor) ? find_sve_core(processor.cpu) : nullptr;
  if (core && bits > core->bits)
    throw UserError("target {}: -vector-width is {}, but the registers of {} have {} bits", target->kind_name,
                    bits, core->name, core->bits)
        .help("leave -vector-width out, or write -mattr=+sve without -mcpu");
  if ((is_aarch64(processor) && !has_sve(processor)) || (is_riscv(processor) && !has_rvv(processor)))
    throw UserError("target {}: -vector-width is {}, but without {} vectors have {} bits", target->kind_name,
                    bits, is_riscv(processor) ? "V" : "SVE", kLeastBits)
        .help("add -mattr=+{}, or leave -vector-width out", is_riscv(processor) ? "v" : "sve");
  return bits;
}

}  // namespace

int64_t widest_vectors(const Processor& processor) {
  if (has_rvv(processor)) return promised_bits(processor);
  if (has_sve(processor)) {
    const SveCore* core = find_sve_core(processor.cpu);
    return core ? core->bits : kLeastBits;
  }
  if (!is_x86(processor)) return kLeastBits;
  const bool is_wide = processor.has("avx512f") && processor.has("avx512vl") && processor.has("avx512bw") &&
                       processor.has("avx512dq");
  return is_wide ? 512 : processor.has("avx") ? 256 : kLeastBits;
}

VectorWidth vector_width(const Processor& processor, const ir::Target& target) {
  const int64_t widest = widest_vectors(processor);
  const int64_t bits = target->attrs.get("vector-width") ? wanted_bits(processor, target) : widest;
  // At 128 bits the instructions of NEON do what those of SVE do, and take single lanes of any register for
  // multiply-adds: LLVM makes them of vectors of 128 bits, and the code runs with registers of all widths.
  if (has_sve(processor)) return {bits, bits > kLeastBits ? bits : 0};
  if (has_rvv(processor)) {
    const int64_t least = std::max(bits, promised_bits(processor));
    return {bits, least > kLeastBits ? least : 0};
  }
  return {std::min(bits, widest), 0};
}

}  // namespace tilewright::target
