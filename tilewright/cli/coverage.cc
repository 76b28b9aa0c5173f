#include "tilewright/cli/coverage.h"

#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/cli/json.h"
#include "tilewright/cli/summary.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/frontend/onnx/import/problems.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {
using frontend::onnx::Fate;
using frontend::onnx::NodeReport;
using frontend::onnx::Problem;

struct FateText {
  Fate fate;
  std::string_view state;  // in JSON
  std::string_view title;  // of the section
};

constexpr FateText kFates[] = {
    {Fate::kNative, "native", "native: compiled code computes them"},
    {Fate::kComputed, "computed", "computed when the model is imported"},
    {Fate::kNeedsValues, "needs values", "need values that only a run knows"},
    {Fate::kMissing, "missing", "missing operators"},
    {Fate::kRefused, "refused", "cannot be imported as they are"},
    {Fate::kFollows, "follows", "need the result of a node that cannot be imported"},
};

bool is_importable(Fate fate) { return fate == Fate::kNative || fate == Fate::kComputed; }

/// Nodes of one operator with the same fate, for the same reason.
struct Group {
  std::vector<std::string> names;
  std::set<std::string> dtypes;
};
using GroupKey = std::tuple<Fate, std::string, std::string>;  // and operator, and reason

struct Coverage {
  std::string origin;
  std::map<GroupKey, Group> groups;
  std::vector<Problem> others;  // of inputs, or of the graph as a whole
  size_t num_nodes = 0, num_importable = 0;
};

Coverage coverage_of(const frontend::onnx::Model& model) {
  Coverage coverage;
  coverage.origin = origin_text(model);
  const frontend::onnx::Problems problems = frontend::onnx::problems_of(model);
  for (const NodeReport& node : problems.nodes()) {
    Group& group = coverage.groups[{node.fate, node.op, node.reason}];
    group.names.push_back(node.name);
    group.dtypes.insert(node.dtypes.begin(), node.dtypes.end());
    ++coverage.num_nodes;
    coverage.num_importable += is_importable(node.fate) ? 1 : 0;
  }
  for (const Problem& problem : problems.list()) {
    if (problem.op.empty()) coverage.others.push_back(problem);
  }
  if (!problems.list().empty()) return coverage;
  try {
    frontend::onnx::import_model(model);
  } catch (const Error& error) {  // of an output, or of the graph as a whole
    coverage.others.push_back({"", {}, error.text()});
  }
  return coverage;
}

std::string section(const Coverage& coverage, const FateText& fate) {
  std::string text;
  for (const auto& [key, group] : coverage.groups) {
    const auto& [group_fate, op, reason] = key;
    if (group_fate != fate.fate) continue;
    if (is_importable(group_fate))
      text += fmt::format("{:>6} {}{}{}\n", group.names.size(), op, group.dtypes.empty() ? "" : "  ",
                          fmt::join(group.dtypes, ", "));
    else
      text += fmt::format("  {}\n", problem_text({op, group.names, reason}));
  }
  return text.empty() ? "" : fmt::format("{}\n{}", fate.title, text);
}

std::string text_of(const Coverage& coverage, const std::string& path) {
  std::string text = fmt::format("{}: {}\n{}, {} can be imported\n", path, coverage.origin,
                                 count_text(coverage.num_nodes, "node"), coverage.num_importable);
  for (const FateText& fate : kFates) text += section(coverage, fate);
  if (!coverage.others.empty()) text += "other reasons\n";
  for (const Problem& problem : coverage.others) text += fmt::format("  {}\n", problem_text(problem));
  return text;
}

std::string json_of(const Coverage& coverage, const std::string& path) {
  Json operators = Json::array();
  for (const FateText& fate : kFates) {
    for (const auto& [key, group] : coverage.groups) {
      const auto& [group_fate, op, reason] = key;
      if (group_fate != fate.fate) continue;
      Json row = {{"operator", op}, {"state", fate.state}, {"nodes", group.names}, {"dtypes", group.dtypes}};
      if (!reason.empty()) row["reason"] = reason;
      operators.push_back(std::move(row));
    }
  }
  Json others = Json::array();
  for (const Problem& problem : coverage.others)
    others.push_back({{"inputs", problem.names}, {"reason", problem.reason}});
  return json_text({{"model", path},
                    {"origin", coverage.origin},
                    {"nodes", coverage.num_nodes},
                    {"importable", coverage.num_importable},
                    {"operators", operators},
                    {"other_reasons", others}});
}

}  // namespace

std::string coverage_text(const ModelOptions& options, bool is_json) {
  const Coverage coverage = coverage_of(read_onnx(options));
  return is_json ? json_of(coverage, options.path) : text_of(coverage, options.path);
}

}  // namespace tilewright::cli
