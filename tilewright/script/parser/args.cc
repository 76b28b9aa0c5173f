#include "tilewright/script/parser/args.h"

#include <algorithm>

#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::script {

const Arg* Args::keyword(std::string_view name) {
  known_.push_back(name);
  for (Arg& arg : keywords) {
    if (arg.name != name) continue;
    arg.used = true;
    return &arg;
  }
  return nullptr;
}

const Arg* Args::find(size_t index, std::string_view name) {
  num_positions_ = std::max(num_positions_, index + 1);
  const Arg* named = keyword(name);
  if (index >= positional.size()) return named;
  if (named)
    throw UserError(span_of(*named), "{}: argument {} is given twice", function, name)
        .note(span_of(positional[index]), "it is given by position here");
  positional[index].used = true;
  return &positional[index];
}

const Arg& Args::need(size_t index, std::string_view name) {
  if (const Arg* arg = find(index, name)) return *arg;
  throw UserError(span, "{}: argument {} is missing", function, name);
}

std::vector<const Arg*> Args::rest(size_t index) {
  std::vector<const Arg*> result;
  for (size_t n = index; n < positional.size(); ++n) {
    positional[n].used = true;
    result.push_back(&positional[n]);
  }
  return result;
}

void Args::done() const {
  for (const Arg& arg : positional) {
    if (!arg.used)
      throw UserError(span_of(arg), "{} takes {}, found {}", function, count_text(num_positions_, "argument"),
                      positional.size());
  }
  for (const Arg& arg : keywords) {
    if (arg.used) continue;
    UserError error(span_of(arg), "{} has no argument {}", function, arg.name);
    if (known_.empty()) throw error;
    throw error.help("{}", nearest_names_text(arg.name, known_));
  }
}

}  // namespace tilewright::script
