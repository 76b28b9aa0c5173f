#include "tilewright/explain/lint.h"

#include <algorithm>

#include "tilewright/analysis/warp_accesses.h"
#include "tilewright/driver/target.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::explain {
namespace {

using analysis::WarpAccess;
using target::GpuFeatures;

constexpr int64_t kManySectors = 2;    // times those that are needed: less is a matter of alignment
constexpr double kLowOccupancy = 0.5;  // of the threads of a multiprocessor

// The user's line of an access: that of the node, of an access to the same buffer before lowering, or of its block.
Span place_of(const tir::PrimFunc& func, const WarpAccess& access) {
  if (const Span& span = span_of(access.node)) return span;
  Span of_access, of_block;
  const auto meet = [&](const tir::Buffer& buffer, const Span& span) {
    if (!of_access && buffer->name == access.buffer->name) of_access = span;
  };
  walk(
      func->body,
      [&](const tir::BufferLoadNode* load) {
        if (!access.is_write) meet(load->buffer, load->span);
      },
      [&](const tir::BufferStoreNode* store) {
        if (access.is_write) meet(store->buffer, store->span);
      },
      [&](const tir::BlockNode* block) {
        for (const tir::BufferRegion& region : access.is_write ? block->writes : block->reads) {
          if (!of_block && region->buffer->name == access.buffer->name) of_block = block->span;
        }
      });
  return of_access ? of_access : of_block;
}

// The block that writes the buffer, and its place among what it writes, as arguments: "\"A_shared\", 0".
std::string writer_of(const tir::PrimFunc& func, const tir::Buffer& buffer) {
  std::string found = "block, buffer_index";
  walk(func->body, [&](const tir::BlockNode* block) {
    for (size_t n = 0; n < block->writes.size(); ++n) {
      if (block->writes[n]->buffer->name == buffer->name)
        found = fmt::format("\"{}\", {}", block->name_hint, n);
    }
  });
  return found;
}

/// Collects the findings of one kernel.
class Kernel {
 public:
  /// `func`: the program before lowering, which has the user's lines.
  Kernel(std::string name, const tir::PrimFunc& func, const GpuFeatures& gpu, std::vector<Finding>* found)
      : name_(std::move(name)), func_(func), gpu_(gpu), found_(*found) {}

  void look_at(const tir::PrimFunc& kernel, const Launch& launch) {
    for (const WarpAccess& access : analysis::warp_accesses(kernel, gpu_)) {
      coalescing(access);
      banks(access);
    }
    spills(launch);
    occupancy(launch);
    partial_warp(launch);
    small_grid(launch);
  }

 private:
  void add(std::string kind, double figure, const Span& span, std::string text, std::string help) {
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const Finding& known) {
      return known.kernel == name_ && known.message.text == text && known.message.span.line == span.line &&
             known.message.span.column == span.column;
    });
    if (!is_known)
      found_.push_back({std::move(kind), name_, figure, {std::move(text), span}, std::move(help)});
  }

  void coalescing(const WarpAccess& access) {
    if (access.least_sectors == 0 || access.num_sectors < kManySectors * access.least_sectors) return;
    const std::string& buffer = access.buffer->name;
    add("coalescing", static_cast<double>(access.num_sectors) / static_cast<double>(access.least_sectors),
        place_of(func_, access),
        fmt::format("a warp {} {} in {} of {} bytes where {} would do: {} bytes move for {}, neighbouring "
                    "threads are {} "
                    "bytes apart",
                    access.is_write ? "writes" : "reads", buffer,
                    count_text(static_cast<size_t>(access.num_sectors), "sector"), gpu_.sector_bytes,
                    access.least_sectors, access.num_sectors * gpu_.sector_bytes,
                    access.num_threads * access.bytes_per_thread, access.step_bytes),
        fmt::format("bind the loop along the last dimension of {0} to threadIdx.x, or {1}", buffer,
                    access.is_write
                        ? "collect a tile in shared memory first (cache_write)"
                        : "copy a tile of it to shared memory in the order of its rows (cache_read)"));
  }

  void banks(const WarpAccess& access) {
    if (access.bank_ways < 2) return;
    const int64_t element = access.buffer->dtype.num_bytes();
    const int64_t row = gpu_.banks * gpu_.bank_bytes / element,
                  pad = std::max(access.bytes_per_thread, gpu_.bank_bytes) / element;
    // within a row of banks, or from row to row
    const bool is_strided =
        access.step_bytes > access.bytes_per_thread && access.step_bytes < gpu_.banks * gpu_.bank_bytes;
    add("banks", static_cast<double>(access.bank_ways), place_of(func_, access),
        fmt::format(
            "a warp {} {} with a {}-way conflict: its threads need {} different words of one bank at once",
            access.is_write ? "writes" : "reads", access.buffer->name, access.bank_ways, access.bank_ways),
        is_strided
            ? fmt::format(
                  "let neighbouring threads have neighbouring elements of {}: now they are {} bytes apart",
                  access.buffer->name, access.step_bytes)
            : fmt::format("pad its rows: sch.storage_align({}, axis=-2, factor={}, offset={})",
                          writer_of(func_, access.buffer), row, std::max<int64_t>(pad, 1)));
  }

  void spills(const Launch& launch) {
    if (launch.spilled_bytes == 0) return;
    add("spills", static_cast<double>(launch.spilled_bytes), {},
        fmt::format("{} bytes of registers are moved to memory and back: {} are not enough",
                    launch.spilled_bytes, launch.registers_text),
        "let a thread compute fewer elements at once, or unroll less");
  }

  // Blocks that fit if only one of threads, registers and shared memory counted.
  struct Limit {
    int64_t blocks;
    std::string what, help;
  };
  std::vector<Limit> limits(const Launch& launch) const {
    return {{gpu_.blocks_per_sm(launch.threads, 0, 0), fmt::format("{} threads a block", launch.threads),
             "give a block more threads, up to what a multiprocessor keeps in a whole number of blocks"},
            {gpu_.blocks_per_sm(launch.threads, 0, launch.shared_bytes),
             fmt::format("{} bytes of shared memory a block, of {},", launch.shared_bytes,
                         gpu_.shared_bytes_per_sm),
             "make the tiles in shared memory smaller"},
            {gpu_.blocks_per_sm(launch.threads, launch.registers, 0),
             fmt::format("{}, of {},", launch.registers_text, gpu_.registers_per_sm),
             "let a thread compute fewer elements at once"}};
  }

  void occupancy(const Launch& launch) {
    if (launch.occupancy >= kLowOccupancy) return;
    const std::vector<Limit> all = limits(launch);
    const auto tightest = std::min_element(
        all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
    add("occupancy", launch.occupancy, {},
        fmt::format(
            "a multiprocessor keeps {} of {} threads, {} of the {} threads it has room for: {} allow no more",
            count_text(static_cast<size_t>(launch.blocks_per_sm), "block"), launch.threads,
            launch.blocks_per_sm * launch.threads, gpu_.max_threads_per_sm, tightest->what),
        tightest->help);
  }

  void partial_warp(const Launch& launch) {
    const int64_t rest = launch.threads % gpu_.warp_size;
    if (rest == 0) return;
    const int64_t warps = launch.threads / gpu_.warp_size + 1;
    add("occupancy", static_cast<double>(launch.threads) / static_cast<double>(warps * gpu_.warp_size), {},
        fmt::format("a block has {} threads: its last warp has {} of {}", launch.threads, rest,
                    gpu_.warp_size),
        fmt::format("make the number of threads of a block a multiple of {}", gpu_.warp_size));
  }

  void small_grid(const Launch& launch) {
    if (launch.blocks == 0 || launch.blocks >= gpu_.num_sms) return;
    add("occupancy", static_cast<double>(launch.blocks) / static_cast<double>(gpu_.num_sms), {},
        fmt::format("{} for {} multiprocessors", count_text(static_cast<size_t>(launch.blocks), "block"),
                    gpu_.num_sms),
        "bind more iterations to blockIdx, or let a block do less");
  }

  const std::string name_;
  const tir::PrimFunc& func_;
  const GpuFeatures& gpu_;
  std::vector<Finding>& found_;
};

// Of kinds in their order.
size_t rank(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"coalescing", "banks", "spills", "occupancy"};
  return static_cast<size_t>(std::ranges::find(kKinds, kind) - std::begin(kKinds));
}

}  // namespace

std::string Finding::text() const {
  UserError shown(message.span, "{}", message.text);
  shown.set_help(help);
  std::string text = shown.render();
  return kind + text.substr(text.find(':'));  // in place of "error"
}

std::vector<Finding> lint(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                          const RegisterSource& registers) {
  return lint(ir::ref_as<tir::PrimFuncNode>(sch.module()->lookup(name)), name, target, registers, {});
}

std::vector<Finding> lint(const tir::PrimFunc& func, const std::string& name, const ir::Target& target,
                          const RegisterSource& registers, const Sizes& sizes) {
  const GpuFeatures gpu = target::gpu_features_of(target).features;
  const ir::IRModule lowered = driver::make_generator(target).lower(name, func, {});
  std::vector<Finding> found;
  for (const Launch& launch : launches_of(lowered, target, sizes, registers)) {
    Kernel(launch.kernel, func, gpu, &found)
        .look_at(ir::ref_as<tir::PrimFuncNode>(lowered->lookup(launch.kernel)), launch);
  }
  // the most serious first: many sectors and ways, few threads
  const auto weight = [](const Finding& each) {
    return each.kind == "occupancy" ? each.figure : -each.figure;
  };
  const auto is_before = [&](const Finding& a, const Finding& b) {
    return a.kind != b.kind ? rank(a.kind) < rank(b.kind) : weight(a) < weight(b);
  };
  std::vector<Finding> sorted;
  for (Finding& each : found)
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), each, is_before), std::move(each));
  return sorted;
}

}  // namespace tilewright::explain
