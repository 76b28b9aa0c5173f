// JSON output of the commands.  Included by .cc files only.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::cli {
using Json = nlohmann::ordered_json;

/// The text to print.  Bytes that are not UTF-8 are replaced, since names in a file may contain any bytes.
inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// [{"name": "x", "type": "float32[n, 3]"}]
inline Json json_of(const std::vector<runtime::vm::Description>& values) {
  Json list = Json::array();
  for (const runtime::vm::Description& value : values)
    list.push_back({{"name", value.name}, {"type", value.type}});
  return list;
}

}  // namespace tilewright::cli
