// The cache of compiled kernels: what is found again, what is not, and folders that are not as they should
// be.
#include "tilewright/driver/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tilewright/driver/build.h"
#include "tilewright/driver/build_id.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"

namespace tilewright::driver {
namespace {
using namespace tir;
using testing::ElementsAre;
using testing::Optional;
namespace fs = std::filesystem;

Hash128 key(uint64_t number) { return Hasher().add(number).finish(); }

class DiskCaches : public testing::Test {
 protected:
  DiskCaches() {
    std::string pattern = (fs::temp_directory_path() / "tilewright-test-XXXXXX").string();
    folder_ = fs::path(mkdtemp(pattern.data())) / "cache";
    setenv("TILEWRIGHT_CACHE_DIR", folder_.c_str(), 1);
    setenv("TILEWRIGHT_CACHE_MB", "500", 1);
  }
  ~DiskCaches() override {
    unsetenv("TILEWRIGHT_CACHE_DIR");
    setenv("TILEWRIGHT_CACHE_MB", "0", 1);
    fs::remove_all(folder_.parent_path());
  }
  std::vector<fs::path> files() const {
    if (!fs::exists(folder_)) return {};
    return {fs::directory_iterator(folder_), fs::directory_iterator()};
  }
  DiskCache cache(int64_t max_bytes = 1'000'000) const { return {folder_, max_bytes}; }
  fs::path folder_;
};

TEST_F(DiskCaches, WhatWasAddedIsFound) {
  const DiskCache cache = this->cache();
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
  cache.add(key(1), "one");
  cache.add(key(2), std::string(100'000, '\0'));
  cache.add(key(3), "");
  EXPECT_THAT(cache.find(key(1)), Optional(std::string("one")));
  EXPECT_THAT(this->cache().find(key(2)), Optional(std::string(100'000, '\0')));
  EXPECT_THAT(cache.find(key(3)), Optional(std::string()));
  EXPECT_EQ(cache.find(key(4)), std::nullopt);
  cache.add(key(1), "uno");
  EXPECT_THAT(cache.find(key(1)), Optional(std::string("uno")));
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(DiskCaches, DamagedEntriesAreNone) {
  const DiskCache cache = this->cache();
  cache.add(key(1), "seven words that will be changed here");
  const fs::path file = files()[0];
  for (uintmax_t size = fs::file_size(file); size-- > 0;) {
    fs::resize_file(file, size);
    EXPECT_EQ(cache.find(key(1)), std::nullopt) << size << " bytes";
  }
  cache.add(key(1), "seven words that will be changed here");
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(30).put('X');
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
  cache.add(key(1), "again");
  EXPECT_THAT(cache.find(key(1)), Optional(std::string("again")));
}

TEST_F(DiskCaches, TheLeastRecentlyUsedGo) {
  const DiskCache cache = this->cache(1000);
  for (uint64_t n = 0; n < 8; ++n) {
    cache.add(key(n), std::string(100, 'x'));
    const fs::path path = folder_ / (key(n).hex() + ".entry");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(10 - n));
  }
  cache.trim();
  EXPECT_EQ(files().size(), 8u);  // 124 bytes each with what stands before them
  cache.find(key(0));
  cache.add(key(8), std::string(100, 'x'));
  std::ofstream(folder_ / ".new-abandoned") << "half";
  std::ofstream(folder_ / ".new-being-made") << "half";
  fs::last_write_time(folder_ / ".new-abandoned", fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.trim();
  EXPECT_TRUE(cache.find(key(0)));
  EXPECT_FALSE(cache.find(key(1)) || cache.find(key(2)) || cache.find(key(3)));
  for (uint64_t n = 4; n < 9; ++n) EXPECT_TRUE(cache.find(key(n))) << n;
  EXPECT_FALSE(fs::exists(folder_ / ".new-abandoned"));
  EXPECT_TRUE(fs::exists(folder_ / ".new-being-made"));
}

TEST_F(DiskCaches, ProcessesShareIt) {
  const DiskCache cache = this->cache(20'000);
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    if (const pid_t pid = fork()) {
      children.push_back(pid);
      continue;
    }
    bool is_right = true;
    for (uint64_t n = 0; n < 300; ++n) {
      const std::string bytes(1000 + n % 7, static_cast<char>('a' + n % 7));
      cache.add(key(n % 7), bytes);
      if (n % 50 == 0) cache.trim();
      const auto found = cache.find(key(n % 7));
      is_right &= !found || *found == bytes;
    }
    _exit(is_right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : files()) EXPECT_EQ(file.extension(), ".entry");
}

TEST_F(DiskCaches, TheFolderIsThisUsersAlone) {
  this->cache().add(key(1), "one");
  struct stat status;
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_TRUE(DiskCache::of_user());
  chmod(folder_.c_str(), 0777);
  EXPECT_FALSE(DiskCache::of_user());
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file";
  EXPECT_FALSE(DiskCache::of_user());
  this->cache().add(key(1), "one");  // nowhere to go
  EXPECT_EQ(this->cache().find(key(1)), std::nullopt);
}

TEST_F(DiskCaches, TheEnvironmentSaysWhereAndHowMuch) {
  setenv("TILEWRIGHT_CACHE_MB", "0", 1);
  EXPECT_FALSE(DiskCache::of_user());
  setenv("TILEWRIGHT_CACHE_MB", "-1", 1);
  try {
    DiskCache::of_user();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.render(),
              "error: TILEWRIGHT_CACHE_MB is \"-1\", expected 0 to 1000000000\n"
              "help: it is how many 10^6 bytes of compiled kernels are kept on disk, 0 for none");
  }
  unsetenv("TILEWRIGHT_CACHE_MB");
  unsetenv("TILEWRIGHT_CACHE_DIR");
  setenv("XDG_CACHE_HOME", folder_.parent_path().c_str(), 1);
  const std::optional<DiskCache> of_user = DiskCache::of_user();
  unsetenv("XDG_CACHE_HOME");
  ASSERT_TRUE(of_user);
  of_user->add(key(1), "one");
  EXPECT_TRUE(fs::exists(folder_.parent_path() / "tilewright" / (key(1).hex() + ".entry")));
}

// A[i] = A[i] + value, for 5 elements
PrimFunc add(double value, const std::string& buffer = "A") {
  Buffer a = make_buffer(buffer, {imm(5)}, kFloat32);
  Var i = make_var("i");
  return PrimFuncNode::make(std::vector<Var>{make_var("a", DataType::handle())}, std::vector<Buffer>{a},
                            loop(i, imm(5), store(a, load(a, {i}) + float_imm(value), {i})));
}

struct Built {
  runtime::Module module;
  std::vector<std::string> stages;  // of the function
  float first = 0;                  // element of a tensor of zeros that it was called with
};

Built build_and_call(const PrimFunc& func, const std::string& target = "llvm", bool schedules = true) {
  Built built;
  const StageObserver observer = [&](const StageTime& time) {
    if (!time.function.empty()) built.stages.push_back(time.stage);
  };
  built.module = build(func, target::parse_target(target), {.schedules = schedules, .on_stage = observer});
  runtime::Tensor data = runtime::Tensor::empty(std::vector<int64_t>{5}, kFloat32);
  std::fill_n(data.data_as<float>(), 5, 0.f);
  built.module.find_function("main")(data);
  built.first = data.data_as<float>()[0];
  return built;
}

TEST_F(DiskCaches, ASecondBuildTakesTheCode) {
  ASSERT_NE(build_id(), "");
  const Built first = build_and_call(add(1));
  EXPECT_THAT(first.stages, ElementsAre("schedule", "lower", "codegen"));
  const Built second = build_and_call(add(1));
  EXPECT_THAT(second.stages, ElementsAre("cached"));
  EXPECT_EQ(first.first, 1.f);
  EXPECT_EQ(second.first, 1.f);
  for (const char* format : {"ll", "asm"})
    EXPECT_EQ(get_source(first.module, format), get_source(second.module, format));
  EXPECT_EQ(kernel_schedules(first.module)[0].trace.str(), kernel_schedules(second.module)[0].trace.str());
  export_library(second.module, (folder_.parent_path() / "out.so").string());
  EXPECT_TRUE(fs::exists(folder_.parent_path() / "out.so"));
}

TEST_F(DiskCaches, CodeOfSomethingElseIsNotTaken) {
  build_and_call(add(1));
  const Built other_value = build_and_call(add(2)), other_name = build_and_call(add(1, "data")),
              unscheduled = build_and_call(add(1), "llvm", false),
              less_optimised = build_and_call(add(1), "llvm -opt-level=1"),
              fewer_cores = build_and_call(add(1), "llvm -num-cores=77");
  for (const Built* each : {&other_value, &other_name, &unscheduled, &less_optimised, &fewer_cores})
    EXPECT_THAT(each->stages, ElementsAre("schedule", "lower", "codegen"));
  EXPECT_EQ(other_value.first, 2.f);
  EXPECT_EQ(files().size(), 6u);
}

TEST_F(DiskCaches, ADamagedEntryIsCompiledAgain) {
  build_and_call(add(1));
  fs::resize_file(files()[0], 100);
  EXPECT_THAT(build_and_call(add(1)).stages, ElementsAre("schedule", "lower", "codegen"));
  EXPECT_THAT(build_and_call(add(1)).stages, ElementsAre("cached"));
}

}  // namespace
}  // namespace tilewright::driver
