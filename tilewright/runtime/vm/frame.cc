#include "tilewright/runtime/vm/frame.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "tilewright/runtime/device.h"
#include "tilewright/runtime/vm/host_calls.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {
namespace {

class ArenaStorage final : public Storage {
 public:
  ArenaStorage(Device device, size_t bytes)
      : Storage(device_interface(device).allocate(device.id, bytes)), device_(device) {}
  ~ArenaStorage() override { device_interface(device_).free(device_.id, data); }

 private:
  const Device device_;
};

size_t longest_operand_list(const BytecodeFunction& function) {
  size_t longest = 1;
  for (const Instruction& instruction : function.code)
    longest = std::max<size_t>(longest, instruction.num_operands);
  return longest;
}

}  // namespace

Frame::Frame(const BytecodeFunction& function, const std::vector<Device>& devices)
    : num_registers_(function.num_registers),
      num_ints_(function.num_ints),
      registers_(new Value[num_registers_]),
      ints_(new int64_t[num_ints_ + 1]()),
      slots_(new Ref<TensorObject>[num_registers_]),
      anys_(new TilewrightAny[longest_operand_list(function)]),
      dims_(new int64_t[longest_operand_list(function)]) {
  values_.reserve(longest_operand_list(function));
  for (const Device device : devices)
    arenas_.push_back(
        {device, (argument_alignment(device) + int64_t{kTensorAlignment} - 1) / int64_t{kTensorAlignment}});
}

void Frame::start() {
  if (num_ints_ > 0) std::memset(ints_.get(), 0, num_ints_ * sizeof(int64_t));
}

void Frame::finish() noexcept {
  values_.clear();
  for (size_t n = 0; n < num_registers_; ++n) registers_[n] = Value();
  size_t num_kept = 0;
  for (uint32_t index : used_slots_) {
    Ref<TensorObject>& slot = slots_[index];
    auto* object = const_cast<TensorObject*>(slot.get());
    if (object->refs.load(std::memory_order_acquire) != 1) {
      slot = nullptr;  // it was returned, or a packed function kept it
      continue;
    }
    // a view of an argument must not be kept beyond the call
    if (!is_in_arena(*object)) object->storage = nullptr;
    used_slots_[num_kept++] = index;
  }
  used_slots_.resize(num_kept);
  for (Arena& arena : arenas_) {
    if (!arena.storage) continue;
    const auto num_ours = 1 + std::count_if(used_slots_.begin(), used_slots_.end(), [&](uint32_t index) {
                            return slots_[index]->storage == arena.storage;
                          });
    // where someone still holds a view of the arena, it is left to them
    if (arena.storage->refs.load(std::memory_order_acquire) != static_cast<uint32_t>(num_ours)) leave(arena);
  }
}

// True for a tensor in an arena of this frame; Storage may also belong to the caller's.
bool Frame::is_in_arena(const TensorObject& tensor) const {
  return std::any_of(arenas_.begin(), arenas_.end(),
                     [&](const Arena& arena) { return arena.storage && tensor.storage == arena.storage; });
}

// Forgets an arena and the tensors in it.
void Frame::leave(Arena& arena) {
  std::erase_if(used_slots_, [&](uint32_t index) {
    if (!arena.storage || !(slots_[index]->storage == arena.storage)) return false;
    slots_[index] = nullptr;
    return true;
  });
  arena.storage = nullptr;
  arena.num_bytes = 0;
}

void Frame::reserve_arena(size_t device, int64_t num_bytes) {
  Arena& arena = arenas_[device];
  if (num_bytes < 0)
    throw UserError("out of memory: the tensors of this call take more than {} bytes", INT64_MAX);
  if (arena.storage && num_bytes <= arena.num_bytes) return;
  leave(arena);
  if (num_bytes > INT64_MAX / arena.spread)
    throw UserError("out of memory: the tensors of this call take more than {} bytes", INT64_MAX);
  arena.storage = Ref<Storage>(
      new ArenaStorage(arena.device, static_cast<size_t>(std::max<int64_t>(num_bytes, 1) * arena.spread)));
  arena.num_bytes = num_bytes;
}

TensorObject& Frame::describe(uint32_t dst, const Memory& memory, DataType dtype, size_t ndim) {
  registers_[dst] = Value();
  Ref<TensorObject>& slot = slots_[dst];
  auto* object = const_cast<TensorObject*>(slot.get());
  if (object && object->refs.load(std::memory_order_acquire) == 1) {
    int64_t* shape = object->reserve_dims(ndim);
    std::memcpy(shape, dims_.get(), ndim * sizeof(int64_t));
    object->dl = {memory.data,
                  memory.device.to_dlpack(),
                  static_cast<int32_t>(ndim),
                  to_dlpack(dtype),
                  shape,
                  nullptr,
                  0};
    if (!(object->storage == memory.storage)) object->storage = memory.storage;
  } else {
    if (!object) used_slots_.push_back(dst);
    object = new TensorObject(memory.storage, memory.data, {dims_.get(), ndim}, {}, dtype, memory.device);
    slot = Ref<TensorObject>(object);
  }
  registers_[dst] = Value(Tensor(slot));
  return *object;
}

void Frame::make_arena_tensor(uint32_t dst, size_t device, int64_t offset, DataType dtype, size_t ndim) {
  const Arena& arena = arenas_[device];
  const int64_t num_bytes = checked_num_bytes({dims_.get(), ndim}, dtype, "arena tensor");
  if (offset < 0 || offset > arena.num_bytes || num_bytes > arena.num_bytes - offset || !arena.storage) {
    throw InternalError("vm: a tensor of {} bytes at {} does not lie in the arena of {} bytes", num_bytes,
                        offset, arena.num_bytes);
  }
  char* data = static_cast<char*>(arena.storage->data) + offset * arena.spread;
  TensorObject& object = describe(dst, {arena.storage, data, arena.device}, dtype, ndim);
  object.in_arena = true;
  object.read_only = false;
}

void Frame::make_reshaped(uint32_t dst, const TensorObject& base, size_t ndim) {
  const Ref<TensorObject> kept(&base);  // `base` may be the value of register dst
  const DataType dtype = from_dlpack(base.dl.dtype);
  const int64_t num_bytes = checked_num_bytes({dims_.get(), ndim}, dtype, "reshape");
  if (num_bytes != Tensor(kept).num_bytes()) {
    throw UserError("reshape: {} has {} elements, which do not fill {}", type_str(Tensor(kept)),
                    Tensor(kept).num_elements(), shape_str({dims_.get(), ndim}));
  }
  // the slot of dst itself may be the base: keep its storage while the slot is rewritten
  const Memory memory{base.storage, base.dl.data, Device::from_dlpack(base.dl.device)};
  const bool in_arena = base.in_arena, read_only = base.read_only;
  TensorObject& object = describe(dst, memory, dtype, ndim);
  object.in_arena = in_arena;
  object.read_only = read_only;
}

void Frame::kill(uint32_t index) {
  registers_[index] = Value();
  auto* object = const_cast<TensorObject*>(slots_[index].get());
  const bool is_ours = object && object->refs.load(std::memory_order_acquire) == 1;
  if (is_ours && !is_in_arena(*object)) object->storage = nullptr;
}

/// All pools.  A fork waits until no thread holds the lock of a pool: that thread would not exist in the
/// child to release it.
class PoolsOfProcess {
 public:
  static PoolsOfProcess& get() {
    static auto* pools = [] {
      pthread_atfork([] { get().lock(); }, [] { get().unlock(); }, [] { get().unlock(); });
      return new PoolsOfProcess;
    }();
    return *pools;
  }
  void add(FramePool* pool) {
    const std::lock_guard lock(mutex_);
    pools_.insert(pool);
  }
  void remove(FramePool* pool) {
    const std::lock_guard lock(mutex_);
    pools_.erase(pool);
  }

 private:
  void lock() {
    mutex_.lock();
    for (FramePool* pool : pools_) pool->mutex_.lock();
  }
  void unlock() {
    for (FramePool* pool : pools_) pool->mutex_.unlock();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::unordered_set<FramePool*> pools_;
};

FramePool::FramePool() { PoolsOfProcess::get().add(this); }
FramePool::~FramePool() { PoolsOfProcess::get().remove(this); }

std::unique_ptr<Frame> FramePool::take(const BytecodeFunction& function, const std::vector<Device>& devices) {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Frame> frame = std::move(idle_.back());
      idle_.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(function, devices);
}

void FramePool::give_back(std::unique_ptr<Frame> frame) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(frame));
}

}  // namespace tilewright::runtime::vm
