// Regular expressions as automata over bytes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::frontend::onnx {

/// Reads a string byte by byte: state 0 first, then next[state * classes + class of the byte].
struct Automaton {
  std::vector<uint8_t> classes;  // of each of 256 bytes
  std::vector<int32_t> next;
  std::vector<uint8_t> is_end;  // by state: whether a string that ends there matches
};

/// The automaton of the whole strings that `pattern`, in RE2's syntax, matches.  Raises UserError for a pattern that is
/// none, Unsupported for parts that are not supported and for one that needs too many states.
Automaton automaton_of(const std::string& pattern);

}  // namespace tilewright::frontend::onnx
