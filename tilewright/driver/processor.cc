#include "tilewright/driver/processor.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tilewright/driver/c_compiler.h"
#include "tilewright/support/error.h"
#include "tilewright/target/vector_width.h"

namespace tilewright::driver {
namespace {

struct Feature {
  std::string_view name;   // LLVM's name
  std::string_view flag;   // in /proc/cpuinfo
  std::string_view macro;  // defined by C compilers
};

// The x86 features that compilers use by themselves, sorted by name.
constexpr Feature kFeatures[] = {
    {"avx", "avx", "__AVX__"},
    {"avx2", "avx2", "__AVX2__"},
    {"avx512bf16", "avx512_bf16", "__AVX512BF16__"},
    {"avx512bitalg", "avx512_bitalg", "__AVX512BITALG__"},
    {"avx512bw", "avx512bw", "__AVX512BW__"},
    {"avx512cd", "avx512cd", "__AVX512CD__"},
    {"avx512dq", "avx512dq", "__AVX512DQ__"},
    {"avx512f", "avx512f", "__AVX512F__"},
    {"avx512fp16", "avx512_fp16", "__AVX512FP16__"},
    {"avx512ifma", "avx512ifma", "__AVX512IFMA__"},
    {"avx512vbmi", "avx512vbmi", "__AVX512VBMI__"},
    {"avx512vbmi2", "avx512_vbmi2", "__AVX512VBMI2__"},
    {"avx512vl", "avx512vl", "__AVX512VL__"},
    {"avx512vnni", "avx512_vnni", "__AVX512VNNI__"},
    {"avx512vpopcntdq", "avx512_vpopcntdq", "__AVX512VPOPCNTDQ__"},
    {"avxvnni", "avx_vnni", "__AVXVNNI__"},
    {"bmi", "bmi1", "__BMI__"},
    {"bmi2", "bmi2", "__BMI2__"},
    {"f16c", "f16c", "__F16C__"},
    {"fma", "fma", "__FMA__"},
    {"gfni", "gfni", "__GFNI__"},
    {"lzcnt", "abm", "__LZCNT__"},
    {"movbe", "movbe", "__MOVBE__"},
    {"popcnt", "popcnt", "__POPCNT__"},
    {"sse", "sse", "__SSE__"},
    {"sse2", "sse2", "__SSE2__"},
    {"sse3", "pni", "__SSE3__"},
    {"sse4.1", "sse4_1", "__SSE4_1__"},
    {"sse4.2", "sse4_2", "__SSE4_2__"},
    {"sse4a", "sse4a", "__SSE4A__"},
    {"ssse3", "ssse3", "__SSSE3__"},
    {"vaes", "vaes", "__VAES__"},
    {"vpclmulqdq", "vpclmulqdq", "__VPCLMULQDQ__"},
    {"xop", "xop", "__XOP__"},
};

using Words = std::set<std::string, std::less<>>;

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

// The flags of the processor that Linux lists, which programs may use.
Words flags_of_linux() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return words_of(line.substr(line.find(':') + 1));
  }
  return {};
}

// The names of the defined macros: the second word of each line.
Words macros_of(const std::string& text) {
  std::istringstream lines(text);
  Words names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string define, name;
    if (words >> define >> name) names.insert(name);
  }
  return names;
}

target::Processor processor_with(const Words& known, std::string_view Feature::* name) {
  utsname system;
  uname(&system);
  target::Processor processor;
  processor.is_host = true;
  processor.triple = std::string(system.machine) + "-linux-gnu";
  const bool is_x86 = processor.triple.starts_with("x86_64");
  for (const Feature& feature : kFeatures) {
    if (is_x86 && known.contains(feature.*name)) processor.features.emplace_back(feature.name);
  }
  processor.vector_bits = target::widest_vectors(processor);
  return processor;
}

}  // namespace

target::Processor this_processor() { return processor_with(flags_of_linux(), &Feature::flag); }

target::Processor processor_of_compiler(const std::string& cpu) {
  target::Processor processor =
      processor_with(macros_of(macros_of_c_compiler({"-march=" + cpu})), &Feature::macro);
  processor.cpu = cpu;
  return processor;
}

}  // namespace tilewright::driver
