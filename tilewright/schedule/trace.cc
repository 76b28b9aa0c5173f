#include "tilewright/schedule/trace.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

std::string node_text(const ObjectRef& node);

std::string joined(const auto& items, auto&& text_of) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + text_of(item);
  return out;
}

// Attribute values as the Python values they come from, index maps as the functions that tir.index_map takes,
// expressions as in scripts; other nodes by their debug text.
std::string node_text(const ObjectRef& node) {
  if (const auto* integer = node.as<IntImmNode>()) {
    if (integer->dtype.is_bool()) return integer->value ? "True" : "False";
    return std::to_string(integer->value);
  }
  if (const auto* number = node.as<FloatImmNode>()) {
    std::string text =
        fmt::format("{}", number->dtype == kFloat32 ? static_cast<float>(number->value) : number->value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* text = node.as<StringImmNode>()) return quoted(text->value);
  if (const auto* list = node.as<ArrayNode>()) return "[" + joined(list->items, node_text) + "]";
  if (const auto* dict = node.as<DictNode>())
    return "{" +
           joined(dict->items,
                  [](const AttrMap::Entry& e) { return quoted(e.first) + ": " + node_text(e.second); }) +
           "}";
  if (is<IndexMapNode>(node)) return index_map_text(ref_as<IndexMapNode>(node));
  if (is<PrimExprNode>(node)) {
    ExprWriter writer;  // what may be run again, with dtypes
    writer.expr(ref_as<PrimExprNode>(node));
    return writer.out;
  }
  return repr(node);
}

struct ToText {
  std::string operator()(None) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(BlockRef ref) const { return handle_name(ref); }
  std::string operator()(LoopRef ref) const { return handle_name(ref); }
  std::string operator()(ExprRef ref) const { return handle_name(ref); }
  std::string operator()(const ObjectRef& node) const { return node ? node_text(node) : "None"; }
  std::string operator()(const ArgValue::List& list) const {
    return "[" + joined(list, [](const ArgValue& item) { return item.str(); }) + "]";
  }
};

}  // namespace

std::string handle_name(BlockRef ref) { return fmt::format("b{}", ref.id); }
std::string handle_name(LoopRef ref) { return fmt::format("l{}", ref.id); }
std::string handle_name(ExprRef ref) { return fmt::format("v{}", ref.id); }
std::string ArgValue::str() const { return std::visit(ToText{}, data); }

std::string Instruction::results() const {
  const auto* list = result.as<ArgValue::List>();
  if (!list) return result.is_none() ? "" : result.str();
  return joined(*list, [](const ArgValue& item) { return item.str(); });
}

namespace {
// Arguments as in a call; those that have their default value are left out.
std::string arguments_text(const Instruction& step, bool first_by_position) {
  const std::vector<ArgInfo> infos = step.primitive->args();
  std::vector<std::string> texts;
  for (size_t n = 0; n < infos.size(); ++n) {
    const ArgValue& value = step.args[n];
    if (!infos[n].is_required && value == infos[n].default_value) continue;
    if (infos[n].is_variadic) {
      if (const auto* list = value.as<ArgValue::List>()) {
        for (const ArgValue& item : *list) texts.push_back(item.str());
        continue;
      }
    }
    texts.push_back(n == 0 && first_by_position ? value.str()
                                                : fmt::format("{}={}", infos[n].name, value.str()));
  }
  return joined(texts, [](const std::string& text) { return text; });
}
}  // namespace

std::string Instruction::call() const {
  return fmt::format("{}({})", primitive->name, arguments_text(*this, true));
}

std::string Instruction::str() const {
  std::string target = results();
  const auto* list = result.as<ArgValue::List>();
  if (list && list->size() == 1) target += ",";
  if (!target.empty()) target += " = ";
  return fmt::format("{}sch.{}({})", target, primitive->name, arguments_text(*this, false));
}

std::string Trace::str() const {
  std::string out;
  for (const Instruction& step : steps) out += step.str() + "\n";
  return out;
}

Trace Trace::simplified() const {
  std::unordered_set<std::string> used;
  std::vector<Instruction> kept;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    bool is_needed = !step->primitive->is_query;
    for_each_handle(step->result, [&](auto handle) { is_needed |= used.contains(handle_name(handle)); });
    if (!is_needed) continue;
    for (const ArgValue& value : step->args)
      for_each_handle(value, [&](auto handle) { used.insert(handle_name(handle)); });
    kept.push_back(*step);
  }
  return {{kept.rbegin(), kept.rend()}};
}

Trace Trace::without_postproc() const {
  const auto mark = std::find_if(steps.begin(), steps.end(), [](const Instruction& step) {
    return step.primitive->name == "enter_postproc";
  });
  return {{steps.begin(), mark}};
}

void Trace::apply_to(Schedule& target) const {
  Replay replay(target);  // all steps or none
  replay.run(*this, steps.size());
  target = std::move(replay.sch);
}

namespace {

// Numbers of handles count on over all kinds; a trace of JSON may say otherwise.
template <class Handle>
int64_t key_of(Handle handle) {
  constexpr int64_t kind = std::is_same_v<Handle, BlockRef> ? 0 : std::is_same_v<Handle, LoopRef> ? 1 : 2;
  return int64_t{handle.id} * 3 + kind;
}

}  // namespace

void Replay::run(const Trace& trace, size_t end) {
  for (; next_ < end; ++next_) {
    const Instruction& step = trace.steps[next_];
    std::vector<ArgValue> args = step.args;
    try {
      for (ArgValue& value : args) {
        for_each_handle(value, [&](auto& handle) {
          const auto known = handles_.find(key_of(handle));
          if (known == handles_.end()) throw UserError("{} has not been made before", handle_name(handle));
          handle = *known->second.template as<std::remove_reference_t<decltype(handle)>>();
        });
      }
      const ArgValue result = sch.run(*step.primitive, std::move(args)).value;
      std::vector<ArgValue> made;
      for_each_handle(result, [&](auto handle) { made.emplace_back(handle); });
      size_t count = 0;
      for_each_handle(step.result, [&](auto handle) {
        if (count < made.size()) handles_[key_of(handle)] = made[count];
        ++count;
      });
      if (count != made.size())
        throw UserError("{} result{} recorded, but there {} {}", count, count == 1 ? " was" : "s were",
                        made.size() == 1 ? "is" : "are", made.size());
    } catch (Error& error) {
      error.add_note({}, fmt::format("at step {} of the trace, {}", next_ + 1, step.call()));
      throw;
    }
  }
}

}  // namespace tilewright::schedule
