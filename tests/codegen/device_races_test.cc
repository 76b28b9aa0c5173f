// Kernels in OpenCL C under oclgrind: no race is found in them, and one without one of its barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "kernel_testing.h"

namespace tilewright::codegen {
namespace {

constexpr const char* kOclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

// In a process whose OpenCL device is oclgrind: runs the program in the file that the environment names.
TEST(DeviceRaces, DISABLED_RunOne) {
  std::stringstream program;
  program << std::ifstream(std::getenv("TILEWRIGHT_TEST_PROGRAM")).rdbuf();
  const ir::IRModule lowered[] = {lowered_kernel(program.str())};
  const tir::PrimFunc func = ir::ref_as<tir::PrimFuncNode>(lowered[0]->lookup("f"));
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kOpenCL, lowered);
  OpenCL* opencl = OpenCL::find();
  ASSERT_NE(opencl, nullptr);
  ASSERT_EQ(opencl->build(kernels[0].text), "");
  opencl->run("f_kernel", grid_of(func), kernels[0].block, func, kernel_args(func));
}

// What oclgrind reports about a program.
std::string findings(std::string_view program) {
  const TestFolder folder;
  std::ofstream(folder / "program.py") << program;
  std::ofstream(folder / "oclgrind.icd") << kOclgrind << "\n";
  const std::string output = output_of(
      fmt::format("OCL_ICD_VENDORS={} OCLGRIND_DATA_RACES=1 OCLGRIND_LOG={} TILEWRIGHT_TEST_PROGRAM={} {} "
                  "--gtest_also_run_disabled_tests --gtest_filter=DeviceRaces.DISABLED_RunOne",
                  (folder / "").string(), (folder / "log").string(), (folder / "program.py").string(),
                  std::filesystem::read_symlink("/proc/self/exe").string()));
  EXPECT_THAT(output, testing::HasSubstr("[  PASSED  ] 1 test"));
  std::stringstream log;
  log << std::ifstream(folder / "log").rdbuf();
  return log.str();
}

class DeviceRaces : public testing::TestWithParam<KernelProgram> {
  void SetUp() override {
    if (!std::filesystem::exists(kOclgrind)) GTEST_SKIP() << "oclgrind is not installed";
  }
};

TEST_P(DeviceRaces, BarriersAreNeeded) {
  EXPECT_EQ(findings(GetParam().text), "");
  const std::string_view text = GetParam().text;
  int barriers = 0;
  for (size_t at = 0; (at = text.find("T.tvm_storage_sync", at + 1)) != text.npos;) ++barriers;
  for (int n = 0; n < barriers; ++n)
    EXPECT_THAT(findings(without_barrier(text, n)), testing::HasSubstr("data race"))
        << "without barrier " << n;
}

INSTANTIATE_TEST_SUITE_P(Programs, DeviceRaces,
                         testing::Values(kReversed, kTransposed, kBlockSum, kMatmul, kVectors, kHalfVectors),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(DeviceRaces, ABarrierThatNotAllThreadsReach) {
  if (!std::filesystem::exists(kOclgrind)) GTEST_SKIP() << "oclgrind is not installed";
  const std::string barrier = "            T.tvm_storage_sync(\"shared\")";
  std::string program(kReversed.text);
  program.replace(program.find(barrier), barrier.size(), "            if tx < 5:\n    " + barrier);
  EXPECT_THAT(findings(program), testing::HasSubstr("divergence"));
}

}  // namespace
}  // namespace tilewright::codegen
