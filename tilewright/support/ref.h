// Intrusive reference counting: RefCounted objects and the pointer that owns them. A Ref<T> gives only `const
// T*`: shared objects never change.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tilewright {

struct RefCounted {
  RefCounted() = default;
  RefCounted(const RefCounted&) : refs(0) {}  // a copy starts without references
  RefCounted& operator=(const RefCounted&) { return *this; }
  mutable std::atomic<uint32_t> refs{0};
};

/// Deletes an object when its last reference is gone; a type with a more general deleter overloads this.
template <class T>
void release_last(const T* object) {
  delete object;
}

template <class T>
class Ref {
 public:
  using Node = T;
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(const T* pointer) : pointer_(pointer) { retain(); }
  Ref(const Ref& other) : pointer_(other.pointer_) { retain(); }
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U>
    requires(std::is_base_of_v<T, U> && !std::is_same_v<T, U>)
  Ref(const Ref<U>& other) : pointer_(other.get()) {
    retain();
  }
  template <class U>
    requires(std::is_base_of_v<T, U> && !std::is_same_v<T, U>)
  Ref(Ref<U>&& other) noexcept : pointer_(other.detach()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() { drop(); }

  const T* get() const { return pointer_; }
  const T* operator->() const { return pointer_; }
  const T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  /// True if both point to the same object: identity, not structural equality.
  friend bool operator==(const Ref& a, const Ref& b) { return a.pointer_ == b.pointer_; }
  friend bool operator==(const Ref& a, std::nullptr_t) { return a.pointer_ == nullptr; }
  /// The object as `const U*` if it is a U, else null.  U::classof decides.
  template <class U>
  const U* as() const {
    return pointer_ && U::classof(*pointer_) ? static_cast<const U*>(pointer_) : nullptr;
  }
  /// Returns the pointer and gives up ownership without releasing the reference.
  const T* detach() { return std::exchange(pointer_, nullptr); }

 private:
  void retain() const {
    if (pointer_) pointer_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  void drop() {
    if (pointer_ && pointer_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) release_last(pointer_);
  }
  const T* pointer_ = nullptr;
};

/// Orders and hashes by identity.  Only for look-ups: the order of addresses must never reach output.
struct IdentityHash {
  template <class T>
  std::size_t operator()(const Ref<T>& ref) const {
    return std::hash<const void*>()(ref.get());
  }
};

}  // namespace tilewright
