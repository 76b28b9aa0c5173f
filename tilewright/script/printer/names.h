// The names of variables in printed text: unique where they are visible, and deterministic.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tilewright/ir/node.h"
#include "tilewright/support/identifier.h"

namespace tilewright::script {

/// Names live in frames; when a frame ends its names are free again.
class NameTable {
 public:
  /// Names `node` by `hint` as a Python identifier, with _1, _2, ... if it is taken or reserved.
  const std::string& define(const ir::Object* node, std::string_view hint);
  /// Gives `node` a spelling that takes no name, e.g. `A.data`.
  void define_as(const ir::Object* node, std::string text);
  /// The name of `node`, or null.
  const std::string* find(const ir::Object* node) const;
  /// Reserves a word, so that no node gets it as a name.
  void reserve(std::string_view word) { taken_.emplace(word); }

  void push();
  void pop();

 private:
  struct Frame {
    std::vector<const ir::Object*> nodes;
    std::vector<std::string> names;
    std::vector<std::pair<std::string, int>> counters;  // previous values
  };
  std::unordered_map<const ir::Object*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> counters_;  // the last number appended to a name
  std::vector<Frame> frames_{1};
};

}  // namespace tilewright::script
