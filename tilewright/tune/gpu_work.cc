#include "tilewright/tune/gpu_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tilewright/target/gpu_costs.h"

namespace tilewright::tune {
namespace {

using target::GpuFeatures;
using target::kGpuCosts;

constexpr double kRegisterBytes = 4;
// Code of more statements takes minutes to compile, and more than the instruction cache of a multiprocessor (128 KiB).
constexpr double kMostStatements = 4096;

bool is_written_out(const NestLoop& loop) {
  return loop.kind == tir::ForKind::kUnrolled || loop.kind == tir::ForKind::kVectorized;
}

/// The loops around a store by where they run.
struct Around {
  std::map<std::string, double> threads, blocks;      // by axis
  std::vector<std::pair<int32_t, std::string>> axes;  // loops on threads
  std::vector<int32_t> body;    // the innermost ones that are written out, the innermost first
  std::vector<int32_t> serial;  // the others, the innermost first
  double iterations = 1;        // of a thread
  double body_iterations = 1;

  double count(const std::map<std::string, double>& extents) const {
    double product = 1;
    for (const auto& [axis, extent] : extents) product *= extent;
    return product;
  }
};

Around around(const Nest& nest, const NestStore& store) {
  Around found;
  for (int32_t place : nest.chain_of(store)) {
    const NestLoop& loop = nest.loops[static_cast<size_t>(place)];
    const bool is_block = loop.axis.starts_with("blockIdx"), is_thread = loop.axis.starts_with("threadIdx");
    if (is_block || is_thread) {
      // a loop inside of one of the same axis is the same thread
      double& extent = (is_block ? found.blocks : found.threads)[loop.axis];
      extent = std::max(extent, loop.extent);
      found.axes.emplace_back(place, loop.axis);
      continue;
    }
    const bool is_body = found.serial.empty() && is_written_out(loop);
    (is_body ? found.body : found.serial).push_back(place);
    found.iterations *= loop.extent;
    if (is_body) found.body_iterations *= loop.extent;
  }
  return found;
}

// How far an access moves in memory, in elements, when all loops of `axis` take their next value; nothing if that is
// not constant.
std::optional<double> stride_of(const Access& access, const NestBuffer& buffer,
                                const std::vector<int32_t>& loops) {
  double stride = 0;
  for (size_t dim = 0; dim < access.indices.size(); ++dim) {
    const Index& index = access.indices[dim];
    if (!index.is_known) return std::nullopt;
    for (const Term& term : index.terms) {
      if (std::ranges::find(loops, term.loop) == loops.end()) continue;
      if (term.divisor != 1) return std::nullopt;
      stride += term.coef * buffer.strides[dim];
    }
  }
  return stride;
}

/// A load or store of the threads of a warp.
struct WarpAccess {
  double lanes = 1;                     // elements of each thread, which follow each other
  std::optional<double> x, y;           // strides along threadIdx.x and .y, in elements
  double threads_x = 1, threads_y = 1;  // of the warp
  double bytes = 4;                     // of an element
};

// Cycles of shared memory: words that banks give, those of one bank one after the other.
double shared_cycles(const WarpAccess& access, const GpuFeatures& features) {
  const double words = std::max(1.0, access.lanes * access.bytes / static_cast<double>(features.bank_bytes));
  const double x = access.x.value_or(access.lanes), y = access.y.value_or(access.lanes);
  const double distinct = (x == 0 ? 1 : access.threads_x) * (y == 0 ? 1 : access.threads_y);
  const auto apart = static_cast<int64_t>(
      std::llround(std::abs(x) * access.bytes / static_cast<double>(features.bank_bytes)));
  double conflict = 1;
  if (static_cast<double>(apart) > words)
    conflict = std::min(access.threads_x, static_cast<double>(std::gcd(apart, features.banks)));
  const double whole = std::max(1.0, distinct * words / static_cast<double>(features.banks));
  return std::max(whole, conflict);
}

// Bytes that come from memory in whole sectors.
double memory_bytes(const WarpAccess& access, const GpuFeatures& features) {
  const auto sector = static_cast<double>(features.sector_bytes);
  const double apart = std::abs(access.x.value_or(access.lanes)) * access.bytes,
               own = std::ceil(access.lanes * access.bytes / sector);
  double sectors = access.threads_x * own;
  if (apart <= sector) sectors = std::ceil(std::max(1.0, access.threads_x * apart / sector));
  if (access.y.value_or(1) != 0) sectors *= access.threads_y;
  return sectors * sector;
}

class Kernels {
 public:
  Kernels(const Nest& nest, const GpuFeatures& features) : nest_(nest), features_(features) {}

  std::vector<GpuKernel> all() {
    for (const NestStore& store : nest_.stores) roots_[root_of(store.loop)].push_back(&store);
    std::vector<GpuKernel> found;
    for (const auto& [root, stores] : roots_) found.push_back(kernel_of(stores));
    return found;
  }

 private:
  // The outermost loop around `loop`; -1 if there is none.
  int32_t root_of(int32_t loop) const {
    while (loop >= 0 && nest_.loops[static_cast<size_t>(loop)].parent >= 0)
      loop = nest_.loops[static_cast<size_t>(loop)].parent;
    return loop;
  }

  GpuKernel kernel_of(const std::vector<const NestStore*>& stores) {
    GpuKernel kernel;
    double threads = 1, blocks = 1, registers = 0;
    for (const NestStore* store : stores) {
      const Around loops = around(nest_, *store);
      kernel.is_on_threads &= !loops.threads.empty() || !loops.blocks.empty();
      threads = std::max(threads, loops.count(loops.threads));
      blocks = std::max(blocks, loops.count(loops.blocks));
    }
    for (const NestStore* store : stores) {
      const Around loops = around(nest_, *store);
      kernel.statements += loops.body_iterations;
      registers = std::max(registers, operand_registers(*store, loops));
      add(*store, loops, threads, &kernel.work);
    }
    double shared = 0;
    for (size_t place = 0; place < nest_.buffers.size(); ++place) {
      const NestBuffer& buffer = nest_.buffers[place];
      if (!buffer.is_local || !is_used(place, stores)) continue;
      double elements = 1;
      for (double extent : buffer.extents) elements *= extent;
      if (buffer.scope.starts_with("shared")) {
        const double rows = buffer.extents.empty() ? 1 : elements / buffer.extents.back();
        // rows of several are filled up to begin in other banks
        shared += elements * buffer.element_bytes +
                  (rows > 1 ? rows * static_cast<double>(features_.vector_load_bytes) : 0);
        kernel.work.instructions += barriers(buffer, threads);
      }
      if (buffer.scope == "local")
        registers += elements * std::max(buffer.element_bytes, kRegisterBytes) / kRegisterBytes;
    }
    const auto whole = [](double value) { return static_cast<int64_t>(std::min(value, 9e15)); };
    kernel.work.blocks = whole(blocks);
    kernel.work.threads = whole(threads);
    kernel.work.registers_per_thread = whole(registers) + kGpuCosts.other_registers;
    kernel.work.shared_bytes = whole(shared);
    return kernel;
  }

  static bool is_used(size_t buffer, const std::vector<const NestStore*>& stores) {
    return std::ranges::any_of(stores, [&](const NestStore* store) {
      return std::ranges::any_of(store->accesses, [&](const Access& access) {
        return static_cast<size_t>(access.buffer) == buffer;
      });
    });
  }

  // Of the threads of a block that wait before and after they use shared memory.
  double barriers(const NestBuffer& buffer, double threads) const {
    double times = 1;
    for (int32_t loop = buffer.home; loop >= 0; loop = nest_.loops[static_cast<size_t>(loop)].parent) {
      const NestLoop& each = nest_.loops[static_cast<size_t>(loop)];
      if (each.axis.empty()) times *= each.extent;
    }
    return instruction_cycles(threads) * times * kGpuCosts.barrier_instructions;
  }

  // Cycles in which the warps of a block start one instruction each.
  double instruction_cycles(double threads) const {
    const auto warp = static_cast<double>(features_.warp_size);
    return std::ceil(threads / warp) * warp / static_cast<double>(features_.fma_per_cycle_per_sm);
  }

  // Registers for what a written out body reads again for several results.
  double operand_registers(const NestStore& store, const Around& loops) const {
    double registers = 0;
    const Access& stored = store.accesses[0];
    for (const Access& access : store.accesses) {
      if (access.stores > 0 || scope_of(access) == "local") continue;
      double count = 1;
      for (int32_t loop : loops.body) {
        if (stored.depends_on(loop) && access.depends_on(loop))
          count *= nest_.loops[static_cast<size_t>(loop)].extent;
      }
      registers += count;
    }
    return registers;
  }

  const std::string& scope_of(const Access& access) const {
    return nest_.buffers[static_cast<size_t>(access.buffer)].scope;
  }

  void add(const NestStore& store, const Around& loops, double threads, target::GpuWork* work) const {
    const Operations& ops = store.operations;
    const double slow = ops.float_div + ops.math + ops.int_div;
    const double arithmetic = ops.total() - ops.float_fma - slow + slow * kGpuCosts.slow_instructions;
    const double cycles = instruction_cycles(threads) * store.share;
    const double warps = std::ceil(threads / static_cast<double>(features_.warp_size)) * store.share;
    work->instructions += cycles * arithmetic * loops.iterations;
    for (const Access& access : store.accesses) {
      if (scope_of(access) == "local" || scope_of(access) == "warp") continue;
      const WarpAccess warp = warp_access(access, loops);
      const double times =
          static_cast<double>(access.loads + access.stores) * times_of(access, loops) / warp.lanes;
      work->instructions += cycles * times;
      if (scope_of(access).starts_with("shared")) {
        work->shared += warps * times * shared_cycles(warp, features_);
      } else {
        work->cache += warps * times * memory_bytes(warp, features_) *
                       static_cast<double>(features_.num_sms) /
                       static_cast<double>(features_.l2_bytes_per_cycle);
      }
    }
  }

  // How often a thread loads or stores an element: values stay in registers in the body, and sums around it.
  double times_of(const Access& access, const Around& loops) const {
    double times = loops.iterations;
    for (int32_t loop : loops.body) {
      if (!access.depends_on(loop)) times /= nest_.loops[static_cast<size_t>(loop)].extent;
    }
    if (access.loads == 0 || access.stores == 0) return times;
    for (int32_t loop : loops.serial) {
      if (access.depends_on(loop)) break;
      times /= nest_.loops[static_cast<size_t>(loop)].extent;
    }
    return times;
  }

  WarpAccess warp_access(const Access& access, const Around& loops) const {
    const NestBuffer& buffer = nest_.buffers[static_cast<size_t>(access.buffer)];
    WarpAccess found;
    found.bytes = buffer.element_bytes;
    for (int32_t loop : loops.body) {
      if (stride_of(access, buffer, {loop}) != 1.0) continue;
      const auto most = static_cast<int64_t>(static_cast<double>(features_.vector_load_bytes) / found.bytes);
      const auto extent = static_cast<int64_t>(nest_.loops[static_cast<size_t>(loop)].extent);
      int64_t lanes = 1;
      while (lanes * 2 <= most && extent % (lanes * 2) == 0) lanes *= 2;
      found.lanes = static_cast<double>(lanes);
    }
    const auto along = [&](std::string_view axis) {
      std::vector<int32_t> places;
      for (const auto& [loop, name] : loops.axes) {
        if (name == axis) places.push_back(loop);
      }
      return stride_of(access, buffer, places);
    };
    const auto threads = [&](const std::string& axis) {
      const auto known = loops.threads.find(axis);
      return known == loops.threads.end() ? 1.0 : known->second;
    };
    const auto warp = static_cast<double>(features_.warp_size);
    found.x = along("threadIdx.x");
    found.y = along("threadIdx.y");
    found.threads_x = std::min(threads("threadIdx.x"), warp);
    found.threads_y = std::min(threads("threadIdx.y"), std::max(1.0, std::floor(warp / found.threads_x)));
    return found;
  }

  const Nest& nest_;
  const GpuFeatures& features_;
  std::map<int32_t, std::vector<const NestStore*>> roots_;
};

}  // namespace

std::vector<GpuKernel> gpu_kernels_of(const Nest& nest, const GpuFeatures& features) {
  return Kernels(nest, features).all();
}

std::optional<schedule::Reason> why_beyond(const std::vector<GpuKernel>& kernels,
                                           const GpuFeatures& features) {
  using schedule::Reason;
  for (const GpuKernel& kernel : kernels) {
    const target::GpuWork& work = kernel.work;
    if (!kernel.is_on_threads) return Reason(Reason::kForm, "a block of it runs on no thread");
    if (work.threads > features.max_threads_per_block)
      return Reason(Reason::kCost, "a block would have {} threads, more than the {} of the target",
                    work.threads, features.max_threads_per_block);
    if (work.shared_bytes > features.shared_bytes_per_block)
      return Reason(Reason::kCost,
                    "a block would have {} bytes of shared memory, more than the {} of the target",
                    work.shared_bytes, features.shared_bytes_per_block);
    if (features.blocks_per_sm(work.threads, work.registers_per_thread, work.shared_bytes) == 0)
      return Reason(
          Reason::kCost,
          "about {} registers for each of {} threads are more than the {} of a thread or the {} of a block",
          work.registers_per_thread, work.threads, features.max_registers_per_thread,
          features.registers_per_block);
    if (kernel.statements > kMostStatements)
      return Reason(Reason::kCost, "a kernel would be {} statements, more than {}",
                    static_cast<int64_t>(kernel.statements), static_cast<int64_t>(kMostStatements));
  }
  return std::nullopt;
}

double cycles_of(const std::vector<GpuKernel>& kernels, const GpuFeatures& features) {
  double sum = 0;
  for (const GpuKernel& kernel : kernels) {
    const std::optional<double> cycles = target::cycles_of(kernel.work, features);
    sum += kernel.is_on_threads && cycles ? *cycles : std::numeric_limits<double>::infinity();
  }
  return sum;
}

}  // namespace tilewright::tune
