// Strings of a call.  A graph knows a string by its id in a pool; tensors of strings enter and leave it as pairs of
// tensors: bytes (uint8), one string after another, and for each string the number of bytes up to its end (int64).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime::builtin {

/// A pair of bytes and ends.
class Texts {
 public:
  /// `what` opens messages.  Raises UserError unless the ends are in order and those of the bytes.
  Texts(const Value& bytes, const Value& ends, std::string_view what);
  int64_t size() const { return ends_.num_elements(); }
  ShapeView shape() const { return ends_.shape(); }
  std::string_view at(int64_t n) const;

 private:
  Tensor bytes_, ends_;
};

/// Strings by id and ids by string; as a function it gives the string of an id.  One call of a graph has a pool of its
/// own, which one thread uses at a time.
class StringPool final : public FunctionObject {
 public:
  /// `model`: the strings of the model, distinct and in order of their bytes, which have the first ids.
  explicit StringPool(Texts model) : FunctionObject("string_pool"), model_(std::move(model)) {}
  Value call(Args args) const override;

  int64_t size() const { return model_.size() + static_cast<int64_t>(added_.size()); }
  std::string_view text(int64_t id) const;
  /// The id of `text`, which becomes one of the pool if it is new.
  int64_t id(std::string_view text) const;

 private:
  size_t slot_of(std::string_view text) const;

  Texts model_;
  mutable std::vector<std::string> added_;
  mutable std::vector<size_t> slots_;  // a hash table with 1 + the place in added_; 0: free
};

/// Argument 0, the pool.
const StringPool& pool_of(Args args);
/// The ids of `count` strings that `text` gives, in a tensor of `shape`.
template <class Text>
Tensor pooled(const StringPool& pool, ShapeView shape, const Text& text) {
  const Tensor ids = Tensor::empty(shape, kInt64);
  for (int64_t n = 0; n < ids.num_elements(); ++n) ids.data_as<int64_t>()[n] = pool.id(text(n));
  return ids;
}

}  // namespace tilewright::runtime::builtin
