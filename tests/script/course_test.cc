// The programs of the course and of the older end-to-end document, where the seeds are present.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "script_testing.h"
#include "tilewright/ir/module.h"

namespace tilewright::script {
namespace {

namespace fs = std::filesystem;

std::string seeds() {
  if (const char* folder = std::getenv("TILEWRIGHT_SEEDS")) return folder;
  return std::string(TILEWRIGHT_SOURCE_DIR) + "/../shared/seeds";
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Course, EveryProgramParses) {
  if (!fs::exists(seeds())) GTEST_SKIP() << "no seeds at " << seeds();
  int programs = 0;
  for (const char* document : {"000_mlc_book", "004_end_to_end_old_api"}) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(seeds()) / document)) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".py") && !name.ends_with(".negative.py")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      // excerpts of larger programs: the functions that they call are not in them
      const std::string name = file.filename();
      if (document == std::string("000_mlc_book") &&
          (name == "071.py" || name == "161.py" || name > "216.py"))
        continue;
      const std::string text = read(file);
      if (text.find("@tvm.script.ir_module") == std::string::npos &&
          text.find("@T.prim_func") == std::string::npos)
        continue;
      try {
        for (const auto& [function, object] :
             parse_definitions(Ref<Source>(new Source(file.filename(), text)))) {
          ++programs;
          EXPECT_TRUE(object) << file;
        }
      } catch (const Error& error) {
        ADD_FAILURE() << file << "\n" << error.render();
      }
    }
  }
  EXPECT_GE(programs, 20);
}

}  // namespace
}  // namespace tilewright::script
