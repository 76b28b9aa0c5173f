// The working memory of one call of a bytecode function, kept for the next call: registers, tensor
// descriptions, the arena.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "tilewright/runtime/value.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

class Frame {
 public:
  /// It has an arena on each of `devices`.
  Frame(const BytecodeFunction& function, const std::vector<Device>& devices);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Value& reg(uint32_t index) { return registers_[index]; }
  int64_t& integer(uint32_t index) { return ints_[index]; }
  /// Scratch for the arguments of the current call; as long as the longest operand list.
  TilewrightAny* anys() { return anys_.get(); }
  std::vector<Value>& values() { return values_; }
  /// Scratch for the shape of the tensor that is being created.
  int64_t* dims() { return dims_.get(); }

  /// Makes the arena of a device hold at least `num_bytes`.  Raises UserError for a negative or too large number.
  void reserve_arena(size_t device, int64_t num_bytes);
  /// Sets register `dst` to a tensor of `dtype` with shape dims() (`ndim` dimensions) at `offset` in the
  /// arena of a device.  Raises InternalError if it does not lie in the arena.
  void make_arena_tensor(uint32_t dst, size_t device, int64_t offset, DataType dtype, size_t ndim);
  /// Sets register `dst` to `base`, which is compact, with shape dims().
  void make_reshaped(uint32_t dst, const TensorObject& base, size_t ndim);

  /// Sets register `index` to none; memory outside of the arena that only it held is freed.
  void kill(uint32_t index);

  /// Zeroes the int registers; called before a call.
  void start();
  /// Drops all values; tensors or arenas of this frame that others still hold are left to them.
  void finish() noexcept;

 private:
  struct Arena {
    Device device;
    int64_t spread;  // of offsets, so that tensors are aligned as the device needs it
    Ref<Storage> storage = {};
    int64_t num_bytes = 0;
  };
  struct Memory {
    Ref<Storage> storage;
    void* data;
    Device device;
  };
  TensorObject& describe(uint32_t dst, const Memory& memory, DataType dtype, size_t ndim);
  bool is_in_arena(const TensorObject& tensor) const;
  void leave(Arena& arena);

  size_t num_registers_, num_ints_;
  std::unique_ptr<Value[]> registers_;
  std::unique_ptr<int64_t[]> ints_;
  // One description per register that creates tensors, rewritten by each call unless someone else still holds
  // it.
  std::unique_ptr<Ref<TensorObject>[]> slots_;
  std::vector<uint32_t> used_slots_;
  std::unique_ptr<TilewrightAny[]> anys_;
  std::unique_ptr<int64_t[]> dims_;
  std::vector<Value> values_;
  std::vector<Arena> arenas_;  // by device
};

/// The idle frames of one function; also usable in a forked child.
class FramePool {
 public:
  FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool();
  std::unique_ptr<Frame> take(const BytecodeFunction& function, const std::vector<Device>& devices);
  void give_back(std::unique_ptr<Frame> frame);

 private:
  friend class PoolsOfProcess;
  static constexpr size_t kMaxIdle = 64;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace tilewright::runtime::vm
