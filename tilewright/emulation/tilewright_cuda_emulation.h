// CUDA C on a CPU: what a text of kernels expects of nvcc, for the stand-in of nvcc beside this file.  Blocks run one
// after the other; the threads of a block are fibers (fibers.h), and barriers and warp operations are where they meet.
// What a device would leave undefined shows:
//   shared memory holds signalling NaN when a block begins;
//   threads run in the order that TILEWRIGHT_EMULATION_ORDER says, "forward" (the default), "backward" or "shuffled",
//   which is another order after each meeting, so that a missing barrier gives other numbers in one of them;
//   a barrier that not all threads of a block reach, or a warp operation that not all lanes of its mask reach, ends the
//   launch with an error; so does an access beyond dynamic shared memory;
//   an asynchronous copy writes NaN, and its data only when a wait asks for it.
// TILEWRIGHT_EMULATION_BLOCKS=n runs n blocks alone, at equal distances, for grids that would take too long.
#pragma once
#include <pthread.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_types.h"
#include "fibers.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// in one section, so that it can be filled before each block; used, so that compilers do not take that for the only value
#define __shared__ __attribute__((section("tw_shared"), used)) static
#define threadIdx (tw_emulation::indices[tw_emulation::current])
#define blockIdx (tw_emulation::block_index)
#define blockDim (tw_emulation::block_size)
#define gridDim (tw_emulation::grid_size)
#define warpSize 32

extern "C" __attribute__((weak, visibility("hidden"))) char __start_tw_shared[], __stop_tw_shared[];

namespace tw_emulation {

constexpr unsigned kDynamicBytes = 232448, kFenceBytes = 4096;
alignas(128) static unsigned char dynamic_shared[kDynamicBytes + kFenceBytes];
static std::vector<Index> indices;  // of the threads of a block
static Index block_index, block_size, grid_size;
static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER;  // shared memory is there once

// ---- meeting of a block and of a warp

static Meeting block_meeting;
struct Slot {
  alignas(16) unsigned char bytes[64];
};
// The lanes of a mask meet; each brings up to 64 bytes, and all see what all brought.
struct WarpMeeting {
  unsigned mask = 0;
  Meeting meeting;
  Slot brought[32], seen[32];
};
static std::vector<std::vector<WarpMeeting*>> warps;

inline unsigned num_threads() { return block_size.x * block_size.y * block_size.z; }
inline unsigned lane() { return current % 32; }
inline unsigned existing_lanes() {
  const unsigned count = num_threads() - current / 32 * 32;
  return count >= 32 ? ~0u : (1u << count) - 1;
}

inline void block_barrier(int line) {
  meet(block_meeting, num_threads(), "__syncthreads", line, [] {});
}

inline Slot* warp_exchange(unsigned mask, const char* what, int line, const void* value, size_t bytes) {
  mask &= existing_lanes();
  if (!(mask >> lane() & 1))
    end_launch("thread %u calls %s in line %d, but its lane is not in the mask %#x", current, what, line,
               mask);
  std::vector<WarpMeeting*>& known = warps[current / 32];
  WarpMeeting* warp = nullptr;
  for (WarpMeeting* each : known) {
    if (each->mask == mask) warp = each;
  }
  if (!warp) {
    known.push_back(warp = new WarpMeeting);
    warp->mask = mask;
  }
  if (warp->meeting.arrived == 0) poison(warp->brought, sizeof warp->brought);
  if (bytes != 0) memcpy(warp->brought[lane()].bytes, value, bytes);
  meet(warp->meeting, static_cast<unsigned>(__builtin_popcount(mask)), what, line,
       [&] { memcpy(warp->seen, warp->brought, sizeof warp->seen); });
  return warp->seen;
}

template <class T>
T shuffle(unsigned mask, T value, unsigned from, const char* what, int line) {
  static_assert(sizeof(T) <= sizeof(Slot), "a value that is shuffled has up to 64 bytes");
  const Slot* all = warp_exchange(mask, what, line, &value, sizeof value);
  memcpy(&value, all[from % 32].bytes, sizeof value);
  return value;
}
// Lane `from` if it is in the part of `width` lanes that this one is in, else this lane.
inline unsigned within(int from, int width) {
  const int begin = static_cast<int>(lane()) / width * width;
  return static_cast<unsigned>(from >= begin && from < begin + width ? from : static_cast<int>(lane()));
}

// ---- asynchronous copies

inline void copy_async(void* to, const void* from, unsigned bytes) {
  Thread& thread = threads[current];
  poison(to, bytes);
  thread.copies.push_back({to, from, bytes, thread.group});
}
inline void commit_copies() { ++threads[current].group; }
// Ends the copies of all groups but the last `open`.
inline void wait_copies(unsigned open) {
  Thread& thread = threads[current];
  std::vector<Copy> rest;
  for (const Copy& copy : thread.copies) {
    if (copy.group < thread.group && thread.group - copy.group > open)
      memcpy(copy.to, copy.from, copy.bytes);
    else
      rest.push_back(copy);
  }
  thread.copies = std::move(rest);
}

// ---- launches

enum class Order { kForward, kBackward, kShuffled };
static Order thread_order = Order::kForward;
static uint64_t random_state = 1;

inline unsigned random_below(unsigned count) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>((random_state >> 33) % count);
}

template <class T>
void put_in_order(std::vector<T>& items) {
  const auto count = static_cast<unsigned>(items.size());
  for (unsigned n = 0; thread_order == Order::kBackward && n < count / 2; ++n)
    std::swap(items[n], items[count - 1 - n]);
  for (unsigned n = count; thread_order == Order::kShuffled && n > 1; --n)
    std::swap(items[n - 1], items[random_below(n)]);
}

inline void new_thread_order() {
  if (order.size() == threads.size() && thread_order != Order::kShuffled) return;
  order.resize(threads.size());
  for (unsigned n = 0; n < order.size(); ++n) order[n] = n;
  put_in_order(order);
}

// The numbers of the blocks to run, in order.
inline std::vector<uint64_t> block_order(uint64_t count) {
  const char* limit = getenv("TILEWRIGHT_EMULATION_BLOCKS");
  const uint64_t most = limit ? strtoull(limit, nullptr, 10) : 0;
  std::vector<uint64_t> blocks(most > 0 && most < count ? most : count);
  for (uint64_t n = 0; n < blocks.size(); ++n)
    blocks[n] = blocks.size() > 1 ? n * (count - 1) / (blocks.size() - 1) : 0;
  put_in_order(blocks);
  return blocks;
}

inline void choose_order() {
  const char* name = getenv("TILEWRIGHT_EMULATION_ORDER");
  thread_order = !name                           ? Order::kForward
                 : strcmp(name, "backward") == 0 ? Order::kBackward
                 : strcmp(name, "shuffled") == 0 ? Order::kShuffled
                                                 : Order::kForward;
  random_state = 1;
}

inline void new_block(unsigned dynamic_bytes) {
  block_meeting = Meeting();
  for (auto& warp : warps) {
    for (WarpMeeting* each : warp) delete each;
    warp.clear();
  }
  warps.resize((num_threads() + 31) / 32);
  poison(__start_tw_shared, static_cast<size_t>(__stop_tw_shared - __start_tw_shared));
  poison(dynamic_shared, dynamic_bytes);
}

// Calls the kernel for each thread of the grid.  `call` must not throw.
inline int launch(const char* kernel, const unsigned grid[3], const unsigned block[3], unsigned dynamic_bytes,
                  void (*call)(unsigned thread)) {
  grid_size = {grid[0], grid[1], grid[2]}, block_size = {block[0], block[1], block[2]};
  const uint64_t count = uint64_t{block[0]} * block[1] * block[2];
  if (count == 0 || count > 1024 || dynamic_bytes > kDynamicBytes) {
    fprintf(stderr, "tilewright's CUDA emulation: kernel %s cannot run with %llu threads and %u bytes\n",
            kernel, static_cast<unsigned long long>(count), dynamic_bytes);
    return 1;
  }
  choose_order();
  indices.resize(count);
  for (unsigned n = 0; n < count; ++n)
    indices[n] = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
  order.clear();
  run_thread = call;
  poison(dynamic_shared + dynamic_bytes, kFenceBytes);
  unsigned char fence[kFenceBytes];
  poison(fence, kFenceBytes);
  for (const uint64_t n : block_order(uint64_t{grid[0]} * grid[1] * grid[2])) {
    block_index = {static_cast<unsigned>(n % grid[0]), static_cast<unsigned>(n / grid[0] % grid[1]),
                   static_cast<unsigned>(n / grid[0] / grid[1])};
    new_block(dynamic_bytes);
    bool is_right = run_block(static_cast<unsigned>(count), new_thread_order);
    forget_fibers();
    if (is_right && memcmp(fence, dynamic_shared + dynamic_bytes, kFenceBytes) != 0) {
      snprintf(failure, sizeof failure, "it writes beyond its %u bytes of dynamic shared memory",
               dynamic_bytes);
      is_right = false;
    }
    if (is_right) continue;
    fprintf(stderr,
            "tilewright's CUDA emulation: kernel %s, block (%u, %u, %u) of %u x %u x %u threads: %s\n",
            kernel, block_index.x, block_index.y, block_index.z, block[0], block[1], block[2], failure);
    return 1;
  }
  return 0;
}

// The kernel and its arguments, for calls from one thread after the other.
template <auto kKernel>
struct Kernel;
template <class... Args, void (*kKernel)(Args...)>
struct Kernel<kKernel> {
  static inline void** values = nullptr;
  struct Sizes {
    int bytes[sizeof...(Args) + 1];
  };
  static constexpr Sizes kSizes = {{static_cast<int>(sizeof(Args))..., 0}};

  template <size_t... kPositions>
  static void call(std::index_sequence<kPositions...>) {
    kKernel(*static_cast<std::remove_const_t<Args>*>(values[kPositions])...);
  }
  static void call_thread(unsigned) { call(std::index_sequence_for<Args...>()); }
  static int launch_with(const char* name, const unsigned grid[3], const unsigned block[3],
                         unsigned dynamic_bytes, void** args) {
    pthread_mutex_lock(&launches);
    values = args;
    const int status = launch(name, grid, block, dynamic_bytes, call_thread);
    pthread_mutex_unlock(&launches);
    return status;
  }
};

}  // namespace tw_emulation

// The two symbols by which the mock of the driver knows a kernel.
#define TILEWRIGHT_EMULATED_KERNEL(name)                                                             \
  extern "C" __attribute__((visibility("default"))) const auto tilewright_emulated_sizes_##name =    \
      tw_emulation::Kernel<&name>::kSizes;                                                           \
  extern "C" __attribute__((visibility("default"))) int tilewright_emulated_##name(                  \
      const unsigned grid[3], const unsigned block[3], unsigned dynamic_shared_bytes, void** args) { \
    return tw_emulation::Kernel<&name>::launch_with(#name, grid, block, dynamic_shared_bytes, args); \
  }

#include "cuda_functions.h"
#include "cuda_instructions.h"
