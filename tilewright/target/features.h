// The one description of a machine, what it can do and how fast, from which schedules, lowering, code
// generation and explain compute.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tilewright/ir/target.h"

namespace tilewright::target {

/// One row of the table of a description.
template <class Owner, class T>
struct FeatureField {
  T Owner::* member;
  std::string_view name, unit, doc;
};

/// A field with its value, for people: "l1_bytes", 32768, "bytes", "L1 data cache of a core".
struct FeatureRow {
  std::string_view name;
  std::variant<bool, int64_t, double> value;
  std::string_view unit, doc;
  std::string source;  // where the value comes from
};
/// Where values come from, by name of the field: "the target", "this machine's system", a manual.
using FeatureSources = std::map<std::string, std::string, std::less<>>;

/// Instructions that add the products of groups of 32 bits, by what they multiply.
struct DotInstructions {
  bool mixed_bytes = false;
  bool signed_bytes = false;
  bool unsigned_bytes = false;
  bool bfloats = false;
  bool byte_tiles = false;
  bool bfloat_tiles = false;

  static constexpr auto fields() {
    using D = DotInstructions;
    return std::tuple{FeatureField{&D::mixed_bytes, "mixed_bytes", "", "uint8 by int8"},
                      FeatureField{&D::signed_bytes, "signed_bytes", "", "int8 by int8"},
                      FeatureField{&D::unsigned_bytes, "unsigned_bytes", "", "uint8 by uint8"},
                      FeatureField{&D::bfloats, "bfloats", "", "bfloat16 by bfloat16"},
                      FeatureField{&D::byte_tiles, "byte_tiles", "", "tile registers of bytes (AMX)"},
                      FeatureField{&D::bfloat_tiles, "bfloat_tiles", "", "tile registers of bfloat16 (AMX)"}};
  }
  friend bool operator==(const DotInstructions&, const DotInstructions&) = default;
};

/// How many instructions on whole vectors start in a cycle.
struct Rates {
  double fma_per_cycle = 2;
  int64_t fma_latency = 4;
  double loads_per_cycle = 2;
  double stores_per_cycle = 1;
  int64_t issue_width = 4;
  int64_t fma_instructions = 1;

  static constexpr auto fields() {
    using R = Rates;
    return std::tuple{
        FeatureField{&R::fma_per_cycle, "fma_per_cycle", "per cycle", "vector multiply-adds that start"},
        FeatureField{&R::fma_latency, "fma_latency", "cycles",
                     "until the sum of one multiply-add can be used by the next"},
        FeatureField{&R::loads_per_cycle, "loads_per_cycle", "per cycle",
                     "loads of vectors from L1 that start"},
        FeatureField{&R::stores_per_cycle, "stores_per_cycle", "per cycle",
                     "stores of vectors to L1 that start"},
        FeatureField{&R::issue_width, "issue_width", "per cycle", "instructions of any kind that start"},
        FeatureField{&R::fma_instructions, "fma_instructions", "",
                     "of one multiply-add: more where it is a product, a sum, and a copy of a factor"}};
  }
  friend bool operator==(const Rates&, const Rates&) = default;
};

struct Features {
  int64_t vector_bytes = 16;
  int64_t num_vector_registers = 16;
  Rates rates = {};
  int64_t l1_bytes = 32 << 10;
  int64_t l1_ways = 8;
  int64_t l2_bytes = 512 << 10;
  int64_t line_bytes = 64;
  int64_t l2_bytes_per_cycle = 32;
  int64_t l3_latency = 60;
  int64_t memory_latency = 400;
  int64_t memory_bytes_per_cycle = 20;
  int64_t parallel_cycles = 12288;
  int64_t page_bytes = 4096;
  DotInstructions dots = {};
  int64_t steps_in_registers = 1;
  bool can_shuffle = true;
  bool has_masks = true;
  bool fetches_writes = true;
  int64_t num_cores = 1;

  /// Name, unit and meaning of each field; `rates` and `dots` have tables of their own.
  static constexpr auto fields() {
    using F = Features;
    return std::tuple{
        FeatureField{&F::vector_bytes, "vector_bytes", "bytes", "one vector register"},
        FeatureField{&F::num_vector_registers, "num_vector_registers", "",
                     "vector registers that code may name"},
        FeatureField{&F::l1_bytes, "l1_bytes", "bytes", "L1 data cache of a core"},
        FeatureField{&F::l1_ways, "l1_ways", "lines", "that may lie in one set of L1"},
        FeatureField{&F::l2_bytes, "l2_bytes", "bytes", "L2 cache, the part that one core may count on"},
        FeatureField{&F::line_bytes, "line_bytes", "bytes", "a line of L1"},
        FeatureField{&F::l2_bytes_per_cycle, "l2_bytes_per_cycle", "bytes", "that come from L2 in a cycle"},
        FeatureField{&F::l3_latency, "l3_latency", "cycles", "until a line comes from the cache behind L2"},
        FeatureField{&F::memory_latency, "memory_latency", "cycles", "until a line comes from memory"},
        FeatureField{&F::memory_bytes_per_cycle, "memory_bytes_per_cycle", "bytes",
                     "that come from memory in a cycle, of one core"},
        FeatureField{&F::parallel_cycles, "parallel_cycles", "cycles",
                     "of work, below which starting threads and waiting for all costs more than it gains"},
        FeatureField{&F::page_bytes, "page_bytes", "bytes",
                     "page of memory, at whose end prefetching by hardware stops"},
        FeatureField{&F::steps_in_registers, "steps_in_registers", "",
                     "of a sum whose vectors code generators keep together, to multiply by lanes"},
        FeatureField{&F::can_shuffle, "can_shuffle", "",
                     "code that permutes lanes of vectors becomes instructions that do so"},
        FeatureField{&F::has_masks, "has_masks", "", "loads and stores of some lanes are instructions"},
        FeatureField{&F::fetches_writes, "fetches_writes", "",
                     "stores gain if their lines are fetched before"},
        FeatureField{&F::num_cores, "num_cores", "", "threads that a parallel loop may use"}};
  }
  /// How many times as many products of bfloat16 as of float32 take a time: those of tile registers; two
  /// lanes in the place of one; none.
  int64_t bfloat_speedup() const;
  /// Multiply-adds of float32 below which a loop does not become parallel: parallel_cycles at the full rate
  /// (64 x 64 by 32 on a Zen 4, 8,192 cycles: 2.5 us, by two threads 3.1).
  int64_t min_parallel_work() const;
  /// How far ahead of a loop what it reads is fetched: what comes in the time until a line is there, rounded
  /// up to a power of two so that vectors share its lines.  From memory, and from the cache behind L2.
  int64_t far_fetch_bytes() const;
  int64_t near_fetch_bytes() const;
  /// All fields, those of `rates` and `dots` last.
  std::vector<FeatureRow> rows(const FeatureSources& sources = {}) const;
  /// All values, in the order of the fields: what generated code depends on.
  std::string str() const;
  friend bool operator==(const Features&, const Features&) = default;
};

/// The CPU that code is made for, as the code generator knows it.
struct Processor {
  std::string triple;                 // "x86_64-pc-linux-gnu"
  std::string cpu;                    // "znver4", LLVM's name
  std::vector<std::string> features;  // enabled ones, sorted, those that others imply among them: "avx512f"
  int64_t vector_bits = 128;          // what code is vectorised for
  bool is_host = false;               // code for it runs in this process
  std::optional<Rates> rates = {};    // by LLVM's scheduling model of `cpu`
  bool has(std::string_view feature) const;
};

/// Features, and where those come from that are not of a common core.
struct KnownFeatures {
  Features features;
  FeatureSources sources;
};
/// Vectors and rates from `processor`; caches from what manuals say of its core (cores.h), or else those of a
/// common one; caches and threads of this machine if code is made for it; and last what the attributes of
/// `target` say.
KnownFeatures features_of(const Processor& processor, const ir::Target& target);

}  // namespace tilewright::target
