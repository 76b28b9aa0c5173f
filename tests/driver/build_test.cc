// Modules of several functions, files of all formats, and what goes wrong with them.
#include "tilewright/driver/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/load.h"
#include "tilewright/driver/tar.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"

namespace tilewright::driver {
namespace {
using namespace tir;
using runtime::Tensor;
namespace fs = std::filesystem;

// A[i] = A[i] + value, for 5 elements
PrimFunc add(double value) {
  Buffer a = make_buffer("A", {imm(5)}, kFloat32);
  Var i = make_var("i");
  Stmt body = loop(i, imm(5), store(a, load(a, {i}) + float_imm(value), {i}));
  return PrimFuncNode::make(std::vector<Var>{make_var("a", DataType::handle())}, std::vector<Buffer>{a},
                            body);
}

ir::IRModule two_functions() {
  ir::IRModule module = ir::with_function(ir::IRModuleNode::make(), "add_one", add(1));
  return ir::with_function(module, "add_two", add(2));
}

ir::Target llvm() { return target::parse_target("llvm"); }

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

class Driver : public testing::Test {
 protected:
  Driver() {
    std::string pattern = (fs::temp_directory_path() / "tilewright-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Driver() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  size_t num_files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(Driver, FunctionsAreFoundByName) {
  const runtime::Module module = build(two_functions(), llvm());
  EXPECT_THAT(module.list_functions(), testing::ElementsAre("add_one", "add_two"));
  Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
  module.get_function("add_one")(x);
  module.get_function("add_two")(x);
  EXPECT_EQ(x.data_as<float>()[4], 3);
}

TEST_F(Driver, SharedLibraryLoadsAndRuns) {
  export_library(
      build(two_functions(), llvm(), {.name = "m", .blob = [] { return std::string("some bytes"); }}),
      at("m.so"));
  EXPECT_EQ(num_files(), 1u);
  const runtime::Module module = runtime::Module::load(at("m.so"));
  Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
  module.get_function("add_two")(x);
  EXPECT_EQ(x.data_as<float>()[0], 2);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(module.blob().data()), module.blob().size()),
            "some bytes");
}

TEST_F(Driver, ObjectArchiveAndTextFilesAreWritten) {
  const runtime::Module module = build(two_functions(), llvm());
  for (const char* name : {"m.o", "m.a", "m.ll", "m.s"}) {
    export_library(module, at(name));
    EXPECT_GT(fs::file_size(at(name)), 100u) << name;
  }
  EXPECT_EQ(num_files(), 4u);
}

TEST_F(Driver, WhatIsWrittenIsLoadedBack) {
  for (const char* name : {"m.so", "m.o", "m.a", "m.tar", "m.ll", "m.s"}) {
    export_library(build(two_functions(), llvm(), {.name = "m"}), at(name));
    const runtime::Module module = load(at(name));
    EXPECT_THAT(module.list_functions(), testing::ElementsAre("add_one", "add_two")) << name;
    Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
    module.get_function("add_two")(x);
    EXPECT_EQ(x.data_as<float>()[4], 2) << name;
  }
  export_library(build(two_functions(), target::parse_target("c")), at("m.c"));
  Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
  load(at("m.c")).get_function("add_one")(x);
  EXPECT_EQ(x.data_as<float>()[0], 1);
}

TEST_F(Driver, WhatCannotBeLoadedIsNamed) {
  auto error = [&](const std::string& name, const std::string& content) {
    std::ofstream(at(name), std::ios::binary) << content;
    return error_of([&] { load(at(name)); });
  };
  EXPECT_EQ(error_of([&] { load(at("x.o")); }), "cannot load " + at("x.o") + ": the file cannot be read");
  EXPECT_EQ(error("y.o", "text"), "cannot load " + at("y.o") + ": it is not an object file for this machine");
  export_library(build(two_functions(), target::parse_target("llvm -mtriple=aarch64-linux-gnu")), at("m.o"));
  EXPECT_EQ(error_of([&] { load(at("m.o")); }),
            "cannot load " + at("m.o") + ": it is not an object file for this machine");
  EXPECT_EQ(error("y.tar", std::string(600, 'x')),
            "cannot load " + at("y.tar") + ": it is not a tar archive, or damaged");
  const std::string archive = write_tar({{"readme.txt", "no code"}});
  EXPECT_EQ(error("z.tar", archive), "cannot load " + at("z.tar") + ": there is no object file (.o) in it");
  EXPECT_EQ(error("w.tar", archive.substr(0, 515)), "cannot load " + at("w.tar") + ": it ends within a file");
  EXPECT_EQ(error("y.a", "text"),
            "cannot load " + at("y.a") + ": it is not an archive of objects, or damaged");
  EXPECT_EQ(error("z.a", "!<arch>\nlib0.o/         0           0     0     644     99999     `\nshort"),
            "cannot load " + at("z.a") + ": it is not an archive of objects, or damaged");
  EXPECT_EQ(error("w.a", "!<arch>\n"), "cannot load " + at("w.a") + ": there is no object file (.o) in it");
  const std::string kernel = "define i32 @__tvm_ffi_f() {\n  ret i32 0\n}\n";
  EXPECT_EQ(error("y.ll", kernel + "define i32 @g("), at("y.ll") + ": line 4: expected type");
  EXPECT_EQ(error("z.ll", "target triple = \"armv7-linux-gnu\"\n" + kernel),
            at("z.ll") + " is for armv7-linux-gnu, which is not this machine");
  EXPECT_EQ(error("y.s", "\tnop\n"), "cannot load " + at("y.s") + ": it defines no function of tilewright");
}

TEST_F(Driver, TarIsReadByOthers) {
  std::ofstream(at("a.tar"), std::ios::binary) << write_tar({{"a.o", "abc"}, {"b.o", std::string(600, 'b')}});
  EXPECT_EQ(std::system(("cd " + folder_.string() + " && tar -xf a.tar").c_str()), 0);
  EXPECT_EQ(fs::file_size(at("a.o")), 3u);
  EXPECT_EQ(fs::file_size(at("b.o")), 600u);
}

TEST_F(Driver, SourceIsText) {
  const runtime::Module module = build(two_functions(), llvm());
  EXPECT_THAT(get_source(module, "ll"), testing::HasSubstr("@__tvm_ffi_add_one"));
  EXPECT_THAT(get_source(module, "asm"), testing::HasSubstr("__tvm_ffi_add_two:"));
  EXPECT_EQ(error_of([&] { get_source(module, "ptx"); }), "there is no source of format \"ptx\"");
}

TEST_F(Driver, StagesAreTimed) {
  std::vector<StageTime> times;
  build(two_functions(), llvm(), {.on_stage = [&](const StageTime& time) { times.push_back(time); }});
  EXPECT_EQ(times.size(), 7u);  // schedule, lower and codegen of each, and the link
  EXPECT_EQ(times.back().stage, "link");
}

TEST_F(Driver, StepsOfLoweringAreTimed) {
  std::vector<std::string> names;
  build(two_functions(), llvm(),
        {.on_step = [&](const ir::PassRecord& record) { names.emplace_back(record.name); }});
  const size_t num_steps = lower::llvm_pipeline().steps().size();
  EXPECT_EQ(names.size(), 2 * num_steps);
  EXPECT_EQ(std::count(names.begin(), names.end(), "lower_blocks"), 2);
}

TEST_F(Driver, CodeForAnotherMachineIsExportedNotRun) {
  const runtime::Module module =
      build(two_functions(), target::parse_target("llvm -mtriple=aarch64-linux-gnu"));
  export_library(module, at("m.a"));
  EXPECT_EQ(error_of([&] { module.get_function("add_one"); }),
            "module was compiled for aarch64-unknown-linux-gnu, which is not this machine");
}

TEST_F(Driver, PathThatCannotBeWritten) {
  const runtime::Module module = build(two_functions(), llvm());
  EXPECT_EQ(error_of([&] { export_library(module, at("no/such/m.so")); }),
            at("no/such/m.so") + " cannot be written: No such file or directory");
  EXPECT_EQ(error_of([&] { export_library(module, at("m.exe")); }),
            at("m.exe") + " cannot be written: the ending \".exe\" is not a known format");
  fs::create_directory(at("d.so"));
  EXPECT_EQ(error_of([&] { export_library(module, at("d.so")); }),
            at("d.so") + " cannot be written: it is a folder");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(Driver, TargetWithoutCodeGenerator) {
  const ir::Target unknown =
      with(target::parse_target("llvm"), [](ir::TargetNode& n) { n.kind_name = "webgpu"; });
  EXPECT_EQ(error_of([&] { build(add(1), unknown); }), "there is no code generator for target webgpu yet");
}

TEST_F(Driver, TwoFunctionsOfOneSymbol) {
  ir::IRModule module;
  const auto named = [](double value) { return ir::with_attr(add(value), "global_symbol", string_imm("f")); };
  module = ir::with_function(ir::with_function(ir::IRModuleNode::make(), "a", named(1)), "b", named(2));
  EXPECT_EQ(error_of([&] { build(module, llvm()); }),
            "two functions of the module have the global_symbol \"f\"");
}

ir::Target c99() { return target::parse_target("c"); }

TEST_F(Driver, CSourceIsCompiledWhenItIsCalled) {
  const runtime::Module module = build(two_functions(), c99());
  EXPECT_THAT(get_source(module, ""), testing::HasSubstr("__tvm_ffi_add_one("));
  EXPECT_EQ(get_source(module, ""), get_source(module, "c"));
  Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
  module.get_function("add_one")(x);
  module.get_function("add_two")(x);
  EXPECT_EQ(x.data_as<float>()[4], 3);
}

TEST_F(Driver, CSourceIsExportedAndCompiledElsewhere) {
  const runtime::Module module =
      build(two_functions(), c99(), {.name = "m", .blob = [] { return std::string("some bytes"); }});
  export_library(module, at("m.c"));
  export_library(module, at("direct.so"));
  const std::string command =
      "cc -std=c99 -Wall -Wextra -Wpedantic -Werror -shared -fPIC " + at("m.c") + " -o " + at("m.so");
  ASSERT_EQ(std::system(command.c_str()), 0);
  for (const char* name : {"m.so", "direct.so"}) {
    const runtime::Module loaded = runtime::Module::load(at(name));
    Tensor x = Tensor::zeros(std::vector<int64_t>{5}, kFloat32);
    loaded.get_function("add_two")(x);
    EXPECT_EQ(x.data_as<float>()[0], 2);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(loaded.blob().data()), loaded.blob().size()),
              "some bytes");
  }
}

TEST_F(Driver, CSourceWithoutACompiler) {
  const std::string path = std::getenv("PATH");
  const runtime::Module module = build(two_functions(), c99());
  setenv("PATH", folder_.c_str(), 1);
  export_library(module, at("m.c"));
  const std::string error = error_of([&] { module.get_function("add_one"); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error, "no C compiler was found: neither cc, gcc nor clang is on the PATH");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(Driver, CCompilerThatFails) {
  const std::string path = std::getenv("PATH");
  std::ofstream(at("cc")) << "#!/bin/sh\necho it is Sunday >&2\nexit 1\n";
  fs::permissions(at("cc"), fs::perms::owner_all);
  setenv("PATH", folder_.c_str(), 1);
  const std::string error = error_of([&] { build(two_functions(), c99()).get_function("add_one"); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error, "the C compiler " + at("cc") + " failed: it is Sunday\n");
}

TEST_F(Driver, CCompilerThatIsNoProgram) {
  const std::string path = std::getenv("PATH");
  std::ofstream(at("cc")) << "no program";
  fs::permissions(at("cc"), fs::perms::owner_all);
  setenv("PATH", folder_.c_str(), 1);
  const std::string error = error_of([&] { build(two_functions(), c99()).get_function("add_one"); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error, "the C compiler " + at("cc") + " could not be started: Exec format error");
}

TEST_F(Driver, TargetCRefusesWhatCCannotSay) {
  Buffer a = make_buffer("A", {imm(5)}, DataType::int_(4, 2));
  const PrimFunc func =
      PrimFuncNode::make(std::vector<Var>{make_var("a", DataType::handle())}, std::vector<Buffer>{a},
                         store(a, make_const(a->dtype, 1), {imm(0)}));
  EXPECT_EQ(error_of([&] { build(func, c99()); }),
            "main: buffer A has elements of dtype int4x2, vectors of elements narrower than a byte");
}

TEST_F(Driver, TargetCRefusesWhatNoCompilerServes) {
  EXPECT_EQ(error_of([] { build(add(1), target::parse_target("c -mattr=+avx")); }),
            "target c: -mattr does not apply to a C compiler");
  // the compiler's own words follow
  EXPECT_THAT(error_of([] { build(add(1), target::parse_target("c -mcpu=zen99")); }),
              testing::ContainsRegex("^target c: the C compiler .* failed: .*zen99"));
  EXPECT_EQ(error_of([] { build(add(1), target::parse_target("c -opt-level=4")); }),
            "target c: -opt-level must be 0..3, but is 4");
  const runtime::Module module = build(add(1), target::parse_target("c -mtriple=aarch64-linux-gnu"));
  EXPECT_EQ(error_of([&] { export_library(module, at("m.so")); }),
            "target c: this C compiler does not generate code for aarch64-linux-gnu");
  EXPECT_EQ(num_files(), 0u);
}

}  // namespace
}  // namespace tilewright::driver
