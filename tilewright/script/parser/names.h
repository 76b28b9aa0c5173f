// The names of a program in nested frames: functions, loops, blocks, branches.
#pragma once
#include <unordered_map>
#include <vector>

#include "tilewright/script/parse.h"

namespace tilewright::script {

struct Binding {
  Value value;
  Place place;          // where it was defined
  bool is_let = false;  // x = expr: a TIR variable, which never changes its value
};

class Names final : public Scope {
 public:
  void push() { frames_.emplace_back(); }
  void pop() { frames_.pop_back(); }
  /// The outermost frame alone.
  Names outermost() const;
  /// Binds `name` in the innermost frame, hiding outer bindings.
  void define(std::string_view name, Value value, Place place, bool is_let = false);
  const Binding* lookup(std::string_view name) const;
  /// The binding in the innermost frame only.
  const Binding* lookup_here(std::string_view name) const;
  const Value* find(std::string_view name) const override;
  std::vector<std::string_view> names() const override;

 private:
  std::vector<std::unordered_map<std::string, Binding>> frames_;
};

/// A frame that lasts as long as a C++ scope.
struct FrameGuard {
  explicit FrameGuard(Names* names) : names(*names) { names->push(); }
  ~FrameGuard() { names.pop(); }
  FrameGuard(const FrameGuard&) = delete;
  FrameGuard& operator=(const FrameGuard&) = delete;
  Names& names;
};

}  // namespace tilewright::script
