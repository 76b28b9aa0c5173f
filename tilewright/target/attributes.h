// Attributes that several kinds of target have.
#pragma once
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/target/target.h"

namespace tilewright::target {

inline constexpr int64_t kLeastCache = 1 << 10, kMostCache = 1 << 30, kMostThreads = 1 << 16;
inline constexpr std::string_view kContractions[] = {"fast", "off"};

inline constexpr TargetAttr kCpuAttrs[] = {
    {"mcpu", TargetAttr::kString, "CPU name as LLVM knows it; \"native\" is this machine"},
    {"mtriple", TargetAttr::kString, "architecture-vendor-system, e.g. aarch64-linux-gnu"},
    {"mattr", TargetAttr::kStrings, "features to add or remove, e.g. +avx512f,-amx-tile"},
    {"num-cores", TargetAttr::kInt, "threads that parallel loops may use", "", 1, runtime::kMaxThreads},
    {"l1_cache_size_bytes", TargetAttr::kInt, "size of a core's L1 data cache", "bytes", kLeastCache,
     kMostCache},
    {"l2_cache_size_bytes", TargetAttr::kInt, "size of the L2 cache that a core has for itself", "bytes",
     kLeastCache, kMostCache},
    {"vector-width", TargetAttr::kInt,
     "widest vectors, 128 to 2048; of SVE and RVV what registers have at least; default: the widest that "
     "are fast",
     "bits"},
    {"model", TargetAttr::kString, "name of the machine, for people"},
    {"opt-level", TargetAttr::kInt, "0..3, how hard LLVM tries"},
    {"fast-math", TargetAttr::kStrings,
     "what floats may do besides contraction: reassoc,nnan,ninf,nsz,arcp,afn"},
    {.name = "fp-contract",
     .type = TargetAttr::kString,
     .doc = "\"fast\": a * b + c may be rounded once, which is faster; \"off\": it is rounded twice",
     .values = kContractions},
    {"device", TargetAttr::kString, "kind of device, for rules"},
    {"keys", TargetAttr::kStrings, "extra keys for rules"},
};

inline constexpr TargetAttr kGpuAttrs[] = {
    {"arch", TargetAttr::kString, "architecture, e.g. sm_80, or several: sm_80,sm_90a"},
    {"max_threads_per_block", TargetAttr::kInt, "threads in a block", "threads", 1, kMostThreads},
    {"max_num_threads", TargetAttr::kInt, "the same, by another name", "threads", 1, kMostThreads},
    {"max_threads_per_multiprocessor", TargetAttr::kInt, "threads that a multiprocessor keeps at once",
     "threads", 1, kMostThreads},
    {"max_shared_memory_per_block", TargetAttr::kInt, "shared memory in a block", "bytes", 0, kMostCache},
    {"max_shared_memory_per_multiprocessor", TargetAttr::kInt,
     "shared memory that the blocks of a multiprocessor share", "bytes", 0, kMostCache},
    {"registers_per_block", TargetAttr::kInt, "32-bit registers of a block", "registers", 1, kMostCache},
    {"num-cores", TargetAttr::kInt, "multiprocessors", "", 1, kMostThreads},
    {"l2_cache_size_bytes", TargetAttr::kInt, "size of the cache that all blocks share", "bytes", kLeastCache,
     kMostCache},
    {"thread_warp_size", TargetAttr::kInt, "threads that run in step", "threads", 1, 128},
    {"allow_tf32", TargetAttr::kInt,
     "1: tensor cores may multiply float32 with the 10 bits of mantissa that they keep", "", 0, 1},
    {"model", TargetAttr::kString, "name of the machine, for people"},
    {"device", TargetAttr::kString, "kind of device, for rules"},
    {"keys", TargetAttr::kStrings, "extra keys for rules"},
};

}  // namespace tilewright::target
