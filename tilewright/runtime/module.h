// Modules: named functions from compiled code (a shared library or a JIT) or another source.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime {

/// The implementation of a module.  Subclass it for functions from another source (the VM does).
class ModuleObject : public Object {
 public:
  explicit ModuleObject(std::string name);
  ~ModuleObject() override;
  const char* type_name() const override { return "module"; }
  /// "library", "jit", "vm"
  virtual std::string kind() const = 0;
  /// This module's own function of that name (not its imports'); undefined if there is none.  Thread-safe.
  virtual Function find(std::string_view function_name) const = 0;
  /// The names of this module's own functions, in order of definition.
  virtual std::vector<std::string> names() const = 0;
  /// The VM executable that the module carries; empty if none.
  virtual std::span<const std::byte> blob() const { return {}; }

  const std::string name;  // a path, or the name in messages

 private:
  friend class Module;
  mutable std::mutex mutex_;
  mutable std::vector<Module> imports_;
};

/// The symbols of compiled code, from a JIT or an object loader.
struct SymbolSource {
  std::string name;                                 // for messages
  std::string kind;                                 // "jit", "library"
  std::function<void*(const std::string&)> lookup;  // address of an exported symbol; null if there is none
  std::shared_ptr<const void> owner;                // keeps the code loaded
};

class Module {
 public:
  Module() = default;
  explicit Module(Ref<ModuleObject> object) : object_(std::move(object)) {}

  /// Loads a shared library made by tilewright.
  /// Raises UserError if the file does not exist, is damaged, was not made by tilewright, or has another ABI
  /// version.
  static Module load(const std::string& path);
  /// A module of the functions of `source`, whose exports follow kernel_abi.h.  Sets its host services.
  /// Raises like load.
  static Module from_symbols(SymbolSource source);

  explicit operator bool() const { return static_cast<bool>(object_); }
  const ModuleObject* object() const { return object_.get(); }
  const std::string& name() const { return object_->name; }
  std::string kind() const { return object_->kind(); }
  /// The function of this module or of one that it imports; undefined if there is none.
  Function find_function(std::string_view name) const;
  /// The same, but raises UserError with similar names if there is none.
  Function get_function(std::string_view name) const;
  /// The names of this module's functions, then those of its imports.
  std::vector<std::string> list_functions() const;
  /// Makes the functions of `other` available here.  Raises UserError if that would make a module import
  /// itself.
  void import_module(const Module& other) const;
  std::vector<Module> imports() const;
  std::span<const std::byte> blob() const { return object_->blob(); }
  friend bool operator==(const Module& a, const Module& b) {
    return a.object_ == b.object_;
  }  // the same object

 private:
  bool reaches(const ModuleObject* target) const;
  Ref<ModuleObject> object_;
};

template <>
struct function_detail::Convert<Module> {
  static Module from(const Value& value, std::string_view what) { return value.as_module(what); }
};

}  // namespace tilewright::runtime
