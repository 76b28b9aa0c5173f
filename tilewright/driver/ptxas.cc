#include "tilewright/driver/ptxas.h"

#include <charconv>
#include <filesystem>
#include <optional>

#include "tilewright/driver/cuda_compiler.h"
#include "tilewright/driver/disk_cache.h"
#include "tilewright/driver/process.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/support/hash.h"

namespace tilewright::driver {
namespace {

// The number that stands before `unit`, "20 bytes" for " bytes"; 0 if there is none.
int64_t number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int64_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

std::string messages_of(const std::string& source, const std::string& arch) {
  const std::string nvcc = find_nvcc();
  const std::optional<DiskCache> cache = DiskCache::of_user();
  const Hash128 key = Hasher().add("ptxas").add(identity_of(nvcc)).add(arch).add(source).finish();
  if (cache) {
    if (std::optional<std::string> known = cache->find(key)) return *known;
  }
  const Workshop workshop(std::filesystem::temp_directory_path() / "ptxas");
  const std::string file = workshop.write("kernels.cu", source), output = workshop.place("kernels.out");
  std::string messages =
      run_program("nvcc", {nvcc, "-cubin", "-arch=" + arch, "-Xptxas", "-v", "-o", output, file}, output);
  if (cache) cache->add(key, messages);
  return messages;
}

}  // namespace

std::map<std::string, PtxasUsage> parse_ptxas(std::string_view messages) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::map<std::string, PtxasUsage> found;
  PtxasUsage* kernel = nullptr;
  while (!messages.empty()) {
    const size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    if (const size_t entry = line.find(kEntry); entry != std::string_view::npos) {
      const std::string_view name = line.substr(entry + kEntry.size());
      kernel = &found[std::string(name.substr(0, name.find('\'')))];
    }
    if (!kernel) continue;
    kernel->spilled_bytes +=
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    kernel->registers += number_before(line, " registers");
    kernel->shared_bytes += number_before(line, " bytes smem");
  }
  return found;
}

std::map<std::string, PtxasUsage> ptxas_usage(const std::string& source, const std::string& arch) {
  return parse_ptxas(messages_of(source, arch));
}

}  // namespace tilewright::driver
