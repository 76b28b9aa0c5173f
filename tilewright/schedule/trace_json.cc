// The trace as JSON text:
//   {"tilewright_trace": 1,
//    "steps": [{"primitive": "split",
//               "args": {"loop": {"loop": 2}, "factors": [null, 4]},
//               "result": [{"loop": 4}, {"loop": 5}]}]}
#include <nlohmann/json.hpp>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/trace.h"

namespace tilewright::schedule {
namespace {
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json to_json(const ArgValue& value);

struct ToJson {
  Json operator()(None) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(BlockRef ref) const { return {{"block", ref.id}}; }
  Json operator()(LoopRef ref) const { return {{"loop", ref.id}}; }
  Json operator()(ExprRef ref) const { return {{"value", ref.id}}; }
  Json operator()(const ObjectRef& node) const { return {{"node", Json::parse(save_json(node))}}; }
  Json operator()(const ArgValue::List& list) const {
    Json items = Json::array();
    for (const ArgValue& item : list) items.push_back(to_json(item));
    return items;
  }
};
Json to_json(const ArgValue& value) { return std::visit(ToJson{}, value.data); }

ArgValue from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    ArgValue::List list;
    for (const Json& item : json) list.push_back(from_json(item));
    return ArgValue(std::move(list));
  }
  if (json.contains("block")) return BlockRef{json["block"].get<int32_t>()};
  if (json.contains("loop")) return LoopRef{json["loop"].get<int32_t>()};
  if (json.contains("value")) return ExprRef{json["value"].get<int32_t>()};
  return load_json(json.at("node").dump());
}

Instruction step_from_json(const Json& json) {
  const PrimitiveInfo& primitive = find_primitive(json.at("primitive").get<std::string>());
  Instruction step{&primitive, {}, from_json(json.at("result"))};
  const Json& given = json.at("args");
  for (const ArgInfo& info : primitive.args()) {
    auto it = given.find(info.name);
    if (it == given.end() && info.is_required)
      throw UserError("trace: step {} lacks argument {}", primitive.name, info.name);
    step.args.push_back(it == given.end() ? info.default_value : from_json(*it));
  }
  return step;
}

}  // namespace

std::string Trace::save_json() const {
  Json list = Json::array();
  for (const Instruction& step : steps) {
    Json args = Json::object();
    const std::vector<ArgInfo> infos = step.primitive->args();
    for (size_t n = 0; n < infos.size(); ++n) {
      if (infos[n].is_required || !(step.args[n] == infos[n].default_value))
        args[std::string(infos[n].name)] = to_json(step.args[n]);
    }
    list.push_back(
        {{"primitive", std::string(step.primitive->name)}, {"args", args}, {"result", to_json(step.result)}});
  }
  return Json{{"tilewright_trace", kVersion}, {"steps", list}}.dump();
}

Trace Trace::load_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    const int version = json.at("tilewright_trace").get<int>();
    if (version > kVersion)
      throw UserError("trace: the text has version {}, this tilewright reads up to {}", version, kVersion);
    Trace trace;
    for (const Json& step : json.at("steps")) trace.steps.push_back(step_from_json(step));
    return trace;
  } catch (const nlohmann::json::exception&) {
    throw UserError("trace: the text is not what save_json wrote");
  }
}

}  // namespace tilewright::schedule
