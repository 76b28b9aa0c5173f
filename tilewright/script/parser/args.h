// The arguments of one call, bound by position or name; arguments that are never read are an error.
#pragma once
#include "tilewright/script/value.h"

namespace tilewright::script {

struct Arg {
  std::string_view name;  // empty when positional
  Place place;
  Value value;
  bool used = false;
};

class Args {
 public:
  std::string function;  // as written, "T.block"
  Place place;           // of the call
  Span span;             // of the call
  const Text* text;
  std::vector<std::string_view> hints;  // names that the results are assigned to
  std::vector<Arg> positional, keywords;

  /// The argument at `index` or called `name`; null if it is not given.  Raises
  /// UserError if it is given twice.
  const Arg* find(size_t index, std::string_view name);
  /// The argument called `name`, keyword only; null if it is not given.
  const Arg* keyword(std::string_view name);
  /// As find, but raises UserError if the argument is missing.
  const Arg& need(size_t index, std::string_view name);
  /// The positional arguments from `index` on, marked as read.
  std::vector<const Arg*> rest(size_t index);
  /// Raises UserError if an argument was not read.
  void done() const;
  size_t size() const { return positional.size(); }
  std::string_view hint(size_t n = 0) const { return n < hints.size() ? hints[n] : std::string_view(); }
  Span span_of(const Arg& arg) const { return text->span(arg.place); }

 private:
  std::vector<std::string_view> known_;
  size_t num_positions_ = 0;
};

}  // namespace tilewright::script
