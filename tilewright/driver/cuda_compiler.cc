#include "tilewright/driver/cuda_compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tilewright/driver/disk_cache.h"
#include "tilewright/driver/process.h"
#include "tilewright/driver/workshop.h"
#include "tilewright/runtime/device/cuda_emulation.h"
#include "tilewright/runtime/dlpack.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"
#include "tilewright/support/hash.h"

namespace tilewright::driver {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string require_compiler() {
  if (const std::string folder = runtime::cuda_emulation_folder(); !folder.empty()) return folder + "/nvcc";
  if (std::string found = find_nvcc(); !found.empty()) return found;
  throw UserError("no compiler of CUDA C was found")
      .help(
          "install nvcc (PyPI: nvidia-cuda-nvcc; NVIDIA: the CUDA toolkit) and put it in PATH, or name it in "
          "TILEWRIGHT_NVCC; TILEWRIGHT_CUDA_EMULATION=1 runs kernels on the CPU; get_source() needs none");
}

std::string compiled(const std::string& nvcc, const std::vector<std::string>& flags,
                     const std::string& source) {
  const std::optional<DiskCache> cache = DiskCache::of_user();
  Hasher hasher;
  hasher.add(identity_of(nvcc)).add(source);
  for (const std::string& flag : flags) hasher.add(flag);
  const Hash128 key = hasher.finish();
  if (cache) {
    if (std::optional<std::string> known = cache->find(key)) return *known;
  }
  const Workshop workshop(std::filesystem::temp_directory_path() / "cuda");
  const std::string file = workshop.write("kernels.cu", source), output = workshop.place("kernels.out");
  std::vector<std::string> command = {nvcc};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", output, file});
  run_program("nvcc", command, output);
  std::optional<std::string> bytes = read_bytes(output);
  if (!bytes || bytes->empty()) throw UserError("nvcc has made no file of CUDA C for {}", flags.back());
  if (cache) cache->add(key, *bytes);
  return *bytes;
}

}  // namespace

std::string find_nvcc() {
  if (std::string given = variable("TILEWRIGHT_NVCC"); !given.empty()) return given;
  if (std::string found = find_program({"nvcc"}); !found.empty()) return found;
  for (const std::string& home : {variable("CUDA_HOME"), std::string("/usr/local/cuda")}) {
    const std::string candidate = home + "/bin/nvcc";
    if (!home.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string identity_of(const std::string& program) {
  struct stat status{};
  if (stat(program.c_str(), &status) != 0) return program;
  return program + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

std::vector<runtime::DeviceImage> cuda_images(const std::string& source, const std::string& arch,
                                              bool with_ptx) {
  const std::string nvcc = require_compiler();
  std::vector<runtime::DeviceImage> images;
  images.push_back({kDLCUDA, "cubin", arch, compiled(nvcc, {"-cubin", "-arch=" + arch}, source)});
  const bool is_stand_in = !runtime::cuda_emulation_folder().empty();
  if (with_ptx && !is_stand_in) {
    std::string compute = "compute_" + arch.substr(std::min<size_t>(3, arch.size()));
    images.push_back({kDLCUDA, "ptx", compute, compiled(nvcc, {"-ptx", "-arch=" + compute}, source)});
  }
  return images;
}

}  // namespace tilewright::driver
