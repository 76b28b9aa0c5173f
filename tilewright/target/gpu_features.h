// The description of a GPU from which schedules, lints and lowering compute.
#pragma once
#include "tilewright/target/features.h"

namespace tilewright::target {

/// Products of matrices that a warp computes by one instruction, 16 x 8 results at least, by what they multiply.
struct TensorCores {
  bool float16 = false;
  bool bfloat16 = false;
  bool tensor_float32 = false;
  bool float64 = false;
  bool int8 = false;
  bool float8 = false;

  static constexpr auto fields() {
    using T = TensorCores;
    return std::tuple{FeatureField{&T::float16, "float16", "", "float16 by float16"},
                      FeatureField{&T::bfloat16, "bfloat16", "", "bfloat16 by bfloat16"},
                      FeatureField{&T::tensor_float32, "tensor_float32", "",
                                   "float32 with the precision of float16 by the same"},
                      FeatureField{&T::float64, "float64", "", "float64 by float64"},
                      FeatureField{&T::int8, "int8", "", "int8 by int8"},
                      FeatureField{&T::float8, "float8", "", "float8 by float8"}};
  }
  friend bool operator==(const TensorCores&, const TensorCores&) = default;
};

/// The defaults are what every GPU of OpenCL 1.2 has, or a common one where that says nothing.
struct GpuFeatures {
  int64_t warp_size = 32;
  int64_t max_threads_per_block = 256;
  int64_t max_threads_per_sm = 1024;
  int64_t max_blocks_per_sm = 16;
  int64_t registers_per_sm = 65536;
  int64_t registers_per_block = 65536;
  int64_t max_registers_per_thread = 128;
  int64_t shared_bytes_per_block = 32 << 10;
  int64_t most_shared_bytes_per_block = 32 << 10;
  int64_t shared_bytes_per_sm = 64 << 10;
  int64_t banks = 32;
  int64_t bank_bytes = 4;
  int64_t num_sms = 16;
  int64_t l2_bytes = 2 << 20;
  int64_t l2_bytes_per_cycle = 1024;
  int64_t memory_bytes_per_cycle = 256;
  int64_t fma_per_cycle_per_sm = 64;
  int64_t vector_load_bytes = 16;
  int64_t sector_bytes = 32;
  int64_t max_grid_x = 2147483647;
  int64_t max_grid_y = 65535;
  int64_t max_grid_z = 65535;
  int64_t max_block_z = 64;
  bool has_warp_shuffle = false;
  bool has_async_copies = false;
  int64_t tensor_fma_per_cycle_per_sm = 0;
  int64_t allow_tf32 = 0;
  TensorCores tensor_cores = {};

  /// Name, unit and meaning of each field; `tensor_cores` has a table of its own.
  static constexpr auto fields() {
    using G = GpuFeatures;
    return std::tuple{
        FeatureField{&G::warp_size, "warp_size", "threads", "that run in step"},
        FeatureField{&G::max_threads_per_block, "max_threads_per_block", "threads", "in a block at most"},
        FeatureField{&G::max_threads_per_sm, "max_threads_per_sm", "threads",
                     "that a multiprocessor keeps at once"},
        FeatureField{&G::max_blocks_per_sm, "max_blocks_per_sm", "blocks",
                     "that a multiprocessor keeps at once"},
        FeatureField{&G::registers_per_sm, "registers_per_sm", "registers",
                     "of 32 bits that the threads of a multiprocessor share"},
        FeatureField{&G::registers_per_block, "registers_per_block", "registers",
                     "of 32 bits that the threads of a block share at most"},
        FeatureField{&G::max_registers_per_thread, "max_registers_per_thread", "registers",
                     "of 32 bits that code may name"},
        FeatureField{&G::shared_bytes_per_block, "shared_bytes_per_block", "bytes",
                     "of shared memory that a block has without asking for more"},
        FeatureField{&G::most_shared_bytes_per_block, "most_shared_bytes_per_block", "bytes",
                     "of shared memory of a block that asks for more"},
        FeatureField{&G::shared_bytes_per_sm, "shared_bytes_per_sm", "bytes",
                     "of shared memory that the blocks of a multiprocessor share"},
        FeatureField{&G::banks, "banks", "", "parts of shared memory that work at once"},
        FeatureField{&G::bank_bytes, "bank_bytes", "bytes", "that a bank gives in a cycle"},
        FeatureField{&G::num_sms, "num_sms", "", "multiprocessors"},
        FeatureField{&G::l2_bytes, "l2_bytes", "bytes", "cache that all multiprocessors share"},
        FeatureField{&G::l2_bytes_per_cycle, "l2_bytes_per_cycle", "bytes",
                     "that come from this cache in a cycle, to all multiprocessors"},
        FeatureField{&G::memory_bytes_per_cycle, "memory_bytes_per_cycle", "bytes",
                     "that come from memory in a cycle, to all multiprocessors"},
        FeatureField{&G::fma_per_cycle_per_sm, "fma_per_cycle_per_sm", "per cycle",
                     "multiply-adds of float32 that a multiprocessor starts"},
        FeatureField{&G::vector_load_bytes, "vector_load_bytes", "bytes",
                     "that a thread loads by one instruction at most"},
        FeatureField{&G::sector_bytes, "sector_bytes", "bytes", "of memory that come together"},
        FeatureField{&G::max_grid_x, "max_grid_x", "blocks", "along x of a grid"},
        FeatureField{&G::max_grid_y, "max_grid_y", "blocks", "along y of a grid"},
        FeatureField{&G::max_grid_z, "max_grid_z", "blocks", "along z of a grid"},
        FeatureField{&G::max_block_z, "max_block_z", "threads", "along z of a block"},
        FeatureField{&G::has_warp_shuffle, "has_warp_shuffle", "",
                     "threads of a warp can read each other's registers"},
        FeatureField{&G::has_async_copies, "has_async_copies", "",
                     "threads can copy to shared memory while they compute"},
        FeatureField{&G::tensor_fma_per_cycle_per_sm, "tensor_fma_per_cycle_per_sm", "per cycle",
                     "multiply-adds of float16 that tensor cores of a multiprocessor start"},
        FeatureField{&G::allow_tf32, "allow_tf32", "",
                     "1: float32 may be multiplied with 10 bits of mantissa"}};
  }
  /// How many blocks of `threads`, each with `registers_per_thread` and `shared_bytes`, a multiprocessor keeps at
  /// once; 0 if not even one.  Registers are given to warps in parts of 256, shared memory in parts of 1 KiB.
  int64_t blocks_per_sm(int64_t threads, int64_t registers_per_thread, int64_t shared_bytes) const;
  /// All fields, those of `tensor_cores` last.
  std::vector<FeatureRow> rows(const FeatureSources& sources = {}) const;
  /// All values, in the order of the fields: what generated code depends on.
  std::string str() const;
  friend bool operator==(const GpuFeatures&, const GpuFeatures&) = default;
};

/// Features, and where those come from that are not of a common GPU.
struct KnownGpuFeatures {
  GpuFeatures features;
  FeatureSources sources;
};

/// True if `target` is a GPU: of kind cuda, opencl or metal.
bool is_gpu(const ir::Target& target);
/// What is known of the GPU that `target` names: the figures of its architecture, and what its attributes say.
/// Raises UserError if it is no GPU, or its architecture is no "sm_<number>" of kind cuda.
KnownGpuFeatures gpu_features_of(const ir::Target& target);

}  // namespace tilewright::target
