// Every program that the course texts and the tests hold means the same after printing.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "printer_testing.h"

namespace tilewright::script {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The programs that stand between R"( and )" in the C++ tests.
std::vector<std::string> raw_strings(const std::string& text) {
  std::vector<std::string> result;
  for (size_t at = text.find("R\"("); at != std::string::npos; at = text.find("R\"(", at)) {
    const size_t end = text.find(")\"", at);
    if (end == std::string::npos) break;
    result.push_back(text.substr(at + 3, end - at - 3));
    at = end;
  }
  return result;
}

// How many definitions were tried; texts that do not parse (fragments, deliberate errors) do not count.
int round_trips(const std::string& text) {
  std::vector<std::pair<std::string, ir::ObjectRef>> definitions;
  try {
    definitions = parse_definitions(source_of(dedent(text)));
  } catch (const Error&) {
    return 0;
  }
  for (const auto& [name, node] : definitions) expect_round_trip(node);
  return static_cast<int>(definitions.size());
}

TEST(RoundTrip, ProgramsOfAllTests) {
  int tried = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests")) {
    if (entry.path().extension() != ".cc") continue;
    SCOPED_TRACE(entry.path().filename().string());
    for (const std::string& program : raw_strings(contents(entry.path()))) tried += round_trips(program);
  }
  EXPECT_GT(tried, 50);
}

TEST(RoundTrip, ProgramsOfTheCourse) {
  const std::filesystem::path root = std::string(TILEWRIGHT_SOURCE_DIR) + "/../shared/seeds";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "the course texts are not here";
  int tried = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".py") continue;
    SCOPED_TRACE(entry.path().string());
    tried += round_trips(contents(entry.path()));
  }
  EXPECT_GT(tried, 20);
}

}  // namespace
}  // namespace tilewright::script
