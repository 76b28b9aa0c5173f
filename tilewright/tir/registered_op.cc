#include "tilewright/tir/registered_op.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>

#include "tilewright/support/error.h"

namespace tilewright::tir {
namespace {

// As the runtime's function registry: names that programs refer to.  An operator keeps its place when it is registered
// again, since others hold pointers to it.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<BuiltinOp>, std::less<>> ops;  // by name without "tir."
};
Registry& registry() {
  static Registry instance;
  return instance;
}

bool is_word(std::string_view text) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_letter);
}

}  // namespace

void register_op(const std::string& name, Effect effect) {
  const std::string_view word = std::string_view(name).substr(std::min<size_t>(4, name.size()));
  if (!name.starts_with("tir.") || !is_word(word))
    throw UserError("register_op: \"{}\" is no name of an operator", name)
        .help("write \"tir.\" and a word, as in \"tir.mylog\"");
  if (find_builtin(name)) throw UserError("register_op: {} is an operator of tilewright already", name);
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const auto [place, is_new] = known.ops.try_emplace(std::string(word));
  if (is_new)
    place->second = std::make_unique<BuiltinOp>(
        BuiltinOp{place->first, -1, effect, false, "an operator that was registered"});
  else
    place->second->effect = effect;
}

const BuiltinOp* find_registered_op(std::string_view name) {
  if (name.starts_with("tir.")) name.remove_prefix(4);
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const auto found = known.ops.find(name);
  return found == known.ops.end() ? nullptr : found->second.get();
}

}  // namespace tilewright::tir
