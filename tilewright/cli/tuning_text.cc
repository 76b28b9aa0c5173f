#include "tilewright/cli/tuning_text.h"

#include "tilewright/cli/json.h"
#include "tilewright/records/json.h"
#include "tilewright/schedule/trace.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/support/units.h"

namespace tilewright::cli {
namespace {

using records::Record;

double median_of(std::vector<double> values) {
  Record record;
  record.seconds = std::move(values);
  return record.median();
}

// "matmul: 12.3 us, 1.20 times as fast as the default schedule"
std::string title(const std::string& kernel, const Record& record) {
  const std::string time = fmt::format("{}: {}", kernel, seconds_text(record.median()));
  if (record.trace.empty()) return time + ", by the default schedule";
  if (record.baseline.empty()) return time;
  return fmt::format("{}, {:.2f} times as fast as the default schedule", time,
                     median_of(record.baseline) / record.median());
}

std::string text_of(const std::string& kernel, const Record& record) {
  std::string text = fmt::format("# {}\n# {}measured on {} by tilewright {}{}\n", title(kernel, record),
                                 record.space.empty() ? "" : fmt::format("space {}, ", record.space),
                                 record.processor.empty() ? "an unknown processor" : record.processor,
                                 record.version, record.is_cold ? ", with cold caches" : "");
  if (!record.trace.empty()) text += schedule::Trace::load_json(record.trace).str();
  if (!text.ends_with("\n")) text += "\n";
  return text;
}

}  // namespace

std::string records_text(const ModelOptions& options, const std::string& kernel, bool is_json) {
  if (!is_library(options.path))
    throw UserError("\"{}\" is not compiled: only libraries carry records of tuning", options.path)
        .help("compile it with --db, and give the library");
  const auto found =
      driver::noted_records(driver::load_model(runtime::Module::load(options.path)).executable());
  if (found.empty())
    throw UserError("\"{}\" carries no records of tuning", options.path)
        .help("`tilewright compile --db` takes those of its kernels from a database");
  Json list = Json::array();
  std::string text;
  std::vector<std::string_view> names;
  for (const auto& [name, record] : found) {
    names.push_back(name);
    if (!kernel.empty() && kernel != name) continue;
    list.push_back({{"kernel", name}, {"record", Json::parse(records::to_json(record))}});
    text += (text.empty() ? "" : "\n") + text_of(name, record);
  }
  if (list.empty())
    throw UserError("there is no kernel \"{}\"", kernel).help("{}", nearest_names_text(kernel, names));
  return is_json ? json_text(list) : text;
}

}  // namespace tilewright::cli
