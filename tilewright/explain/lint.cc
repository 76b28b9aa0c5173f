#include "tilewright/explain/lint.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/analysis/warp_accesses.h"
#include "tilewright/driver/target.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/support/count_text.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::explain {
namespace {

using analysis::BlockSize;
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

  void look_at(const tir::PrimFunc& kernel, std::optional<int64_t> registers) {
    for (const WarpAccess& access : analysis::warp_accesses(kernel, gpu_)) {
      coalescing(access);
      banks(access);
    }
    const BlockSize size = analysis::block_size(kernel);
    occupancy(size, registers);
    partial_warp(size);
    small_grid(size);
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

  // Blocks that fit if only `one` of threads, registers and shared memory counted.
  struct Limit {
    int64_t blocks;
    std::string what, help;
  };
  std::vector<Limit> limits(const BlockSize& size, int64_t registers) const {
    return {{gpu_.blocks_per_sm(size.threads, 0, 0), fmt::format("{} threads a block", size.threads),
             "give a block more threads, up to what a multiprocessor keeps in a whole number of blocks"},
            {gpu_.blocks_per_sm(size.threads, 0, size.shared_bytes),
             fmt::format("{} bytes of shared memory a block, of {},", size.shared_bytes,
                         gpu_.shared_bytes_per_sm),
             "make the tiles in shared memory smaller"},
            {gpu_.blocks_per_sm(size.threads, registers, 0),
             fmt::format("{} registers a thread, of {},", registers, gpu_.registers_per_sm),
             "let a thread compute fewer elements at once"}};
  }

  void occupancy(const BlockSize& size, std::optional<int64_t> registers) {
    const int64_t blocks = gpu_.blocks_per_sm(size.threads, registers.value_or(0), size.shared_bytes);
    const double part =
        static_cast<double>(blocks * size.threads) / static_cast<double>(gpu_.max_threads_per_sm);
    if (part >= kLowOccupancy) return;
    const std::vector<Limit> all = limits(size, registers.value_or(0));
    const auto tightest = std::min_element(
        all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
    add("occupancy", part, {},
        fmt::format(
            "a multiprocessor keeps {} of {} threads, {} of the {} threads it has room for: {} allow no more",
            count_text(static_cast<size_t>(blocks), "block"), size.threads, blocks * size.threads,
            gpu_.max_threads_per_sm, tightest->what),
        tightest->help);
  }

  void partial_warp(const BlockSize& size) {
    const int64_t rest = size.threads % gpu_.warp_size;
    if (rest == 0) return;
    const int64_t warps = size.threads / gpu_.warp_size + 1;
    add("occupancy", static_cast<double>(size.threads) / static_cast<double>(warps * gpu_.warp_size), {},
        fmt::format("a block has {} threads: its last warp has {} of {}", size.threads, rest, gpu_.warp_size),
        fmt::format("make the number of threads of a block a multiple of {}", gpu_.warp_size));
  }

  void small_grid(const BlockSize& size) {
    if (size.blocks == 0 || size.blocks >= gpu_.num_sms) return;
    add("occupancy", static_cast<double>(size.blocks) / static_cast<double>(gpu_.num_sms), {},
        fmt::format("{} for {} multiprocessors", count_text(static_cast<size_t>(size.blocks), "block"),
                    gpu_.num_sms),
        "bind more iterations to blockIdx, or let a block do less");
  }

  const std::string name_;
  const tir::PrimFunc& func_;
  const GpuFeatures& gpu_;
  std::vector<Finding>& found_;
};

size_t rank(std::string_view kind) { return kind == "coalescing" ? 0 : kind == "banks" ? 1 : 2; }

}  // namespace

std::string Finding::text() const {
  UserError shown(message.span, "{}", message.text);
  shown.set_help(help);
  std::string text = shown.render();
  return kind + text.substr(text.find(':'));  // in place of "error"
}

std::vector<Finding> lint(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                          std::optional<int64_t> registers) {
  const GpuFeatures gpu = target::gpu_features_of(target).features;
  const auto func = ir::ref_as<tir::PrimFuncNode>(sch.module()->lookup(name));
  const ir::IRModule lowered = driver::make_generator(target).lower(name, func, {});
  std::vector<Finding> found;
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    const ir::BaseFunc& each = lowered->functions[n];
    if (each->attrs.get_string(std::string(lower::kLoweredKind), "") != lower::kDeviceKernel) continue;
    Kernel(lowered->global_vars[n]->name_hint, func, gpu, &found)
        .look_at(ir::ref_as<tir::PrimFuncNode>(each), registers);
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

std::string to_text(const std::vector<Finding>& findings) {
  if (findings.empty()) return "nothing found";
  std::vector<std::string> texts;
  for (const Finding& finding : findings) texts.push_back(finding.text());
  return fmt::format("{}", fmt::join(texts, "\n\n"));
}

}  // namespace tilewright::explain
