// The system and the C compiler agree with LLVM about processors.
#include "tilewright/driver/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/target/target.h"

namespace tilewright::driver {
namespace {

// Features that LLVM does not have there, of those of `processor`.
std::vector<std::string> strange(const target::Processor& processor, const codegen::NativeTarget& native) {
  std::vector<std::string> found;
  for (const std::string& feature : processor.features) {
    if (!native.has(feature)) found.push_back(feature);
  }
  return found;
}

TEST(Processor, OfThisMachine) {
  const codegen::NativeTarget native = codegen::native_target(target::parse_target("llvm"));
  const target::Processor here = this_processor();
  EXPECT_THAT(strange(here, native), testing::IsEmpty());
  EXPECT_EQ(here.vector_bits, native.vector_bits);
  EXPECT_EQ(here.triple.substr(0, here.triple.find('-')), native.triple.substr(0, native.triple.find('-')));
}

TEST(Processor, OfTheCCompiler) {
  if (!this_processor().triple.starts_with("x86_64")) GTEST_SKIP() << "CPUs of x86-64";
  for (const auto& [cpu, vector_bits] :
       {std::pair("x86-64", 128), {"haswell", 256}, {"skylake-avx512", 512}}) {
    const codegen::NativeTarget native =
        codegen::native_target(target::parse_target(std::string("llvm -mcpu=") + cpu));
    const target::Processor processor = processor_of_compiler(cpu);
    EXPECT_THAT(strange(processor, native), testing::IsEmpty()) << cpu;
    EXPECT_EQ(processor.vector_bits, vector_bits) << cpu;
    EXPECT_EQ(native.vector_bits, vector_bits) << cpu;
    EXPECT_EQ(processor.has("fma"), native.has("fma")) << cpu;
  }
}

}  // namespace
}  // namespace tilewright::driver
