#include "tilewright/records/json.h"

#include <nlohmann/json.hpp>

#include "tilewright/support/error.h"

namespace tilewright::records {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kJsonVersion = 1;
constexpr const char* kMark = "tilewright_record";

Json parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kMark) || !json[kMark].is_number_integer())
    throw UserError("this is no record of tuning: {}", std::string(text.substr(0, 40)))
        .help("a record is a line of JSON that begins with {{\"{}\":{}", kMark, kJsonVersion);
  const int64_t version = json[kMark];
  if (version != kJsonVersion)
    throw UserError("a record of version {}, this compiler reads {}", version, kJsonVersion)
        .help("use the compiler that wrote it");
  return json;
}

}  // namespace

std::string to_json(const Record& record) {
  Json json = {{kMark, kJsonVersion},
               {"program", record.key.program},
               {"machine", record.key.machine},
               {"target", record.target},
               {"space", record.space},
               {"trace", record.trace.empty() ? Json() : Json::parse(record.trace)},
               {"seconds", record.seconds},
               {"baseline", record.baseline},
               {"failure", record.failure},
               {"beats_default", record.beats_default},
               {"changes_sums", record.changes_sums},
               {"is_cold", record.is_cold},
               {"score", record.score ? Json(*record.score) : Json()},
               {"estimate", record.estimate ? Json(*record.estimate) : Json()},
               {"processor", record.processor},
               {"compiler", record.version},
               {"time", record.time}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Record from_json(std::string_view text) {
  const Json json = parsed(text);
  Record record;
  try {
    record.key = {json.at("program").get<std::string>(), json.at("machine").get<std::string>()};
    json.at("target").get_to(record.target);
    json.at("space").get_to(record.space);
    if (!json.at("trace").is_null()) record.trace = json.at("trace").dump();
    json.at("seconds").get_to(record.seconds);
    json.at("baseline").get_to(record.baseline);
    json.at("failure").get_to(record.failure);
    json.at("beats_default").get_to(record.beats_default);
    json.at("changes_sums").get_to(record.changes_sums);
    json.at("is_cold").get_to(record.is_cold);
    if (!json.at("score").is_null()) record.score = json.at("score").get<double>();
    // records of older compilers lack it
    if (json.contains("estimate") && !json["estimate"].is_null())
      record.estimate = json["estimate"].get<double>();
    json.at("processor").get_to(record.processor);
    json.at("compiler").get_to(record.version);
    json.at("time").get_to(record.time);
  } catch (const Json::exception& error) {
    throw UserError("a record of tuning is not complete: {}", error.what())
        .help("it was changed, or cut off, after it was written");
  }
  return record;
}

}  // namespace tilewright::records
