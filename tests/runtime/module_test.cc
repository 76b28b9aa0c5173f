#include "tilewright/runtime/module.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "expect_error.h"
#include "tilewright/runtime/host.h"

namespace tilewright::runtime {
namespace {

std::string temporary(const std::string& name) { return testing::TempDir() + "tilewright_" + name; }

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(Module, LibraryFunctionsRunOnTheHost) {
  const Module module = Module::load(TEST_KERNELS);
  EXPECT_EQ(module.kind(), "library");
  EXPECT_EQ(module.list_functions(), (std::vector<std::string>{"add_one", "fails", "first_dimension"}));
  const Tensor x = Tensor::zeros(Shape{5, 127}, kFloat32), y = Tensor::zeros(Shape{5, 127}, kFloat32);
  module.get_function("add_one")(x, y);
  for (int n = 0; n < 5 * 127; ++n) ASSERT_EQ(y.data_as<float>()[n], 1.0f);
  EXPECT_EQ(module.get_function("first_dimension")(x).as_int(), 5);
  EXPECT_ERROR(module.get_function("fails")(), "error: fails: as it should");
  EXPECT_ERROR(module.get_function("add_one")(x), "error: add_one: expected two tensors");
  EXPECT_TRUE(module.blob().empty());
}

TEST(Module, FunctionsKeepTheLibrary) {
  Function function = Module::load(TEST_KERNELS).get_function("fails");
  EXPECT_ERROR(function(), "error: fails: as it should");
}

TEST(Module, MissingFunctionNamesNearOnes) {
  const Module module = Module::load(TEST_KERNELS);
  EXPECT_FALSE(module.find_function("add_two"));
  EXPECT_ERROR(module.get_function("ad_one"), std::string("error: module ") + TEST_KERNELS +
                                                  " has no function \"ad_one\"\nhelp: did you mean add_one?");
}

TEST(Module, LibrariesThatAreRefused) {
  EXPECT_ERROR(Module::load("/no/such.so"),
               "error: cannot load /no/such.so: there is no such file\nhelp: check the path");
  EXPECT_ERROR(Module::load(TEST_KERNELS_OLD),
               std::string("error: ") + TEST_KERNELS_OLD +
                   " has kernel ABI version 99, this runtime has 1\n" +
                   "help: compile the model again with the tilewright you run it with");
  EXPECT_ERROR(Module::load(TEST_KERNELS_FOREIGN), std::string("error: ") + TEST_KERNELS_FOREIGN +
                                                       " was not compiled by tilewright: it has no symbol "
                                                       "__tilewright_abi_version\nhelp: make a library with "
                                                       "`tilewright compile`");
}

TEST(Module, DamagedFilesAreRefusedBeforeTheyAreMapped) {
  const std::string path = temporary("damaged.so");
  write(path, "not a library, and long enough to hold the header of one, which is sixty-four bytes");
  EXPECT_ERROR(Module::load(path),
               "error: cannot load " + path +
                   ": it is not a shared library\nhelp: make one with `tilewright compile`");
  write(path, "");
  EXPECT_ERROR(Module::load(path),
               "error: cannot load " + path +
                   ": it is not a shared library\nhelp: make one with `tilewright compile`");
  const std::string whole = read(TEST_KERNELS);
  for (size_t bytes : {whole.size() - 1, whole.size() / 2, size_t{100}}) {
    write(path, whole.substr(0, bytes));
    EXPECT_ERROR(
        Module::load(path),
        fmt::format("error: cannot load {}: it is truncated at {} bytes\nhelp: compile or copy it again",
                    path, bytes));
  }
  std::string other_machine = whole;
  other_machine[18] = 40;  // e_machine: 32-bit ARM
  other_machine[19] = 0;
  write(path, other_machine);
  try {
    Module::load(path);
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_TRUE(error.text().starts_with("cannot load " + path +
                                         ": it is for another kind of CPU (ELF machine 40, this is "))
        << error.text();
  }
  std::filesystem::remove(path);
  EXPECT_ERROR(Module::load(testing::TempDir()),
               "error: cannot load " + testing::TempDir() +
                   ": it is not a shared library\nhelp: make one with `tilewright compile`");
}

extern "C" int32_t forty_two(void*, const TilewrightAny*, int32_t, TilewrightAny* result) {
  result->type_index = kTilewrightInt;
  result->v_int64 = 42;
  return 0;
}

const uint32_t version = TILEWRIGHT_KERNEL_ABI_VERSION;
const TilewrightHost* jit_host = nullptr;

Module jit_module(std::shared_ptr<const void> owner) {
  auto lookup = [](const std::string& symbol) -> void* {
    if (symbol == "__tilewright_abi_version") return const_cast<uint32_t*>(&version);
    if (symbol == "__tilewright_host") return &jit_host;
    if (symbol == "__tilewright_names") return const_cast<char*>("answer\n");
    return symbol == "__tvm_ffi_answer" ? reinterpret_cast<void*>(&forty_two) : nullptr;
  };
  return Module::from_symbols({"jit", "jit", lookup, std::move(owner)});
}

TEST(Module, SymbolSourceIsKeptByItsFunctions) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owner;
  Function answer = jit_module(std::move(owner)).get_function("answer");
  EXPECT_EQ(jit_host, host_services());
  EXPECT_EQ(answer().as_int(), 42);
  EXPECT_FALSE(watch.expired());
  answer = Function();
  EXPECT_TRUE(watch.expired());
}

TEST(Module, ImportsAreSearched) {
  const Module first = jit_module(nullptr), second = Module::load(TEST_KERNELS);
  first.import_module(second);
  EXPECT_TRUE(first.find_function("add_one"));
  EXPECT_EQ(first.list_functions().size(), 4u);
  EXPECT_EQ(first.imports().size(), 1u);
  EXPECT_EQ(first.imports()[0], second);
  EXPECT_ERROR(second.import_module(first),
               std::string("error: import_module: module ") + TEST_KERNELS + " would import itself");
  EXPECT_ERROR(first.import_module(Module()), "error: import_module: no module was given");
}

}  // namespace
}  // namespace tilewright::runtime
