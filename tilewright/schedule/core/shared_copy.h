// A vector and a map whose copies share what neither has changed: a schedule is copied to try a step on it,
// and a step changes few of its loops and blocks.
#pragma once
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/support/ref.h"

namespace tilewright::schedule {

/// A value that copies of its owner share until one of them edits it.
template <class T>
class SharedPart {
 public:
  /// Null until the first edit.
  const T* get() const { return held_ ? &held_->value : nullptr; }
  /// The value of this owner alone.
  T& edit() {
    if (!held_ || held_->refs.load(std::memory_order_acquire) != 1) {
      own_ = held_ ? new Held(*held_) : new Held;
      held_ = Ref<Held>(own_);
    }
    return own_->value;
  }

 private:
  struct Held final : RefCounted {
    T value;
  };
  Ref<Held> held_;
  Held* own_ = nullptr;  // the same object; it is changed only while this is its one owner
};

template <class T>
class SharedVector {
 public:
  size_t size() const { return size_; }
  const T& operator[](size_t n) const { return (*parts_[n / kPart].get())[n % kPart]; }
  T& edit(size_t n) { return parts_[n / kPart].edit()[n % kPart]; }
  void push_back(T value) {
    if (size_ % kPart == 0) parts_.emplace_back();
    parts_.back().edit().push_back(std::move(value));
    ++size_;
  }

 private:
  static constexpr size_t kPart = 32;
  std::vector<SharedPart<std::vector<T>>> parts_;
  size_t size_ = 0;
};

/// Keys are pointers.
template <class Key, class T>
class SharedMap {
 public:
  size_t size() const { return size_; }
  const T* find(Key key) const {
    const auto* part = parts_[part_of(key)].get();
    if (!part) return nullptr;
    const auto known = part->find(key);
    return known == part->end() ? nullptr : &known->second;
  }
  void set(Key key, T value) { size_ += parts_[part_of(key)].edit().insert_or_assign(key, value).second; }
  /// The value of `key`, a new one if it had none.
  T& edit(Key key) {
    const auto [known, is_new] = parts_[part_of(key)].edit().try_emplace(key);
    size_ += is_new;
    return known->second;
  }
  void erase(Key key) {
    if (find(key)) size_ -= parts_[part_of(key)].edit().erase(key);
  }
  /// In no particular order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& part : parts_) {
      if (!part.get()) continue;
      for (const auto& [key, value] : *part.get()) visit(key, value);
    }
  }

 private:
  static constexpr size_t kNumParts = 64;
  static size_t part_of(Key key) { return reinterpret_cast<uintptr_t>(key) / 64 * 0x9E3779B97F4A7C15u >> 58; }
  std::array<SharedPart<std::unordered_map<Key, T>>, kNumParts> parts_;
  size_t size_ = 0;
};

}  // namespace tilewright::schedule
