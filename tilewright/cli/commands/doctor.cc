// tilewright doctor: shows the description of a machine with its sources, and measures its speed.
#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/cli/command.h"
#include "tilewright/cli/report.h"
#include "tilewright/driver/target.h"
#include "tilewright/explain/peaks.h"
#include "tilewright/support/count_text.h"
#include "tilewright/target/target.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string target = "llvm";
  bool is_json = false, calibrates = false;
};

nlohmann::ordered_json json_of(const std::vector<target::FeatureRow>& rows) {
  nlohmann::ordered_json features;
  for (const target::FeatureRow& row : rows) {
    nlohmann::ordered_json& feature = features[std::string(row.name)];
    std::visit([&](auto value) { feature["value"] = value; }, row.value);
    feature["unit"] = row.unit;
    feature["doc"] = row.doc;
    feature["source"] = row.source;
  }
  return features;
}

// `width`: of the column of names
std::string text_of(const std::vector<target::FeatureRow>& rows, int width) {
  std::string text;
  for (const target::FeatureRow& row : rows) {
    const std::string value = std::visit([](auto number) { return fmt::format("{}", number); }, row.value);
    text +=
        fmt::format("  {:<{}} {:>9} {:<9}  {} ({})\n", row.name, width, value, row.unit, row.doc, row.source);
  }
  return text;
}

nlohmann::ordered_json json_of(const explain::Peaks& peaks) {
  nlohmann::ordered_json json = {
      {"num_threads", peaks.num_threads}, {"is_steady", peaks.is_steady}, {"flops_per_s", peaks.flops_per_s}};
  for (const explain::MemoryLevel& level : peaks.levels) json["bytes_per_s"][level.name] = level.bytes_per_s;
  return json;
}

std::string text_of(const explain::Peaks& peaks) {
  std::string text = fmt::format("measured with {}{}\n", count_text(peaks.num_threads, "thread"),
                                 peaks.is_steady ? "" : ", while the machine was busy: not kept");
  text += fmt::format("  {:<21} {:>9.1f} GFLOP/s\n", "multiply-adds", peaks.flops_per_s / 1e9);
  for (const explain::MemoryLevel& level : peaks.levels)
    text += fmt::format("  {:<21} {:>9.1f} GB/s\n", "reads of " + level.name, level.bytes_per_s / 1e9);
  return text;
}

void run(const Options& options) {
  const driver::Generator generator = driver::make_generator(target::parse_target(options.target));
  const std::vector<target::FeatureRow> rows = generator.gpu
                                                   ? generator.gpu->rows(generator.feature_sources)
                                                   : generator.features.rows(generator.feature_sources);
  if (options.calibrates && !generator.is_host)
    throw UserError("{} is not this machine, the only one that can be measured", generator.machine)
        .help("leave out --calibrate");
  std::optional<explain::Peaks> peaks;  // stored for `explain`
  if (options.calibrates) peaks = explain::peaks_of_machine(true);
  if (options.is_json) {
    nlohmann::ordered_json json = {{"target", options.target}, {"features", json_of(rows)}};
    if (peaks) json["peaks"] = json_of(*peaks);
    return print(json.dump(2) + "\n");
  }
  const std::string machine = generator.gpu ? "kernels of a GPU" : generator.machine;
  print(fmt::format("{}: {}\n", options.target, machine) + text_of(rows, generator.gpu ? 27 : 21));
  if (peaks) print(text_of(*peaks));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--target", options->target, "the target of code generation; default llvm, this machine");
  app.add_flag("--calibrate", options->calibrates,
               "measure how fast this machine computes and reads, and store it for explain");
  app.add_flag("--json", options->is_json, "print the description as JSON");
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command doctor_info = {
    .name = "doctor",
    .doc = "show the description of a machine with its sources",
    .place = 9,
    .add = add,
    .examples = R"(examples:
  tilewright doctor
  tilewright doctor --calibrate
  tilewright doctor --target "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"
)",
};

}  // namespace tilewright::cli
