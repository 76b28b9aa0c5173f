#include "tilewright/emulation/emulated_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tilewright::emulation {
namespace {

// The bytes of the library that begins at `bytes`; 0 if there is none. A driver is told no size.
size_t library_bytes(const void* bytes) {
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return 0;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  size_t end = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  for (size_t n = 0; n < header.e_phnum; ++n) {
    Elf64_Phdr segment;
    std::memcpy(&segment, static_cast<const char*>(bytes) + header.e_phoff + n * header.e_phentsize,
                sizeof segment);
    end = std::max<size_t>(end, segment.p_offset + segment.p_filesz);
  }
  return header.e_type == ET_DYN ? end : 0;
}

// dlopen takes a path that it has seen for the library that it had: each gets one of its own.
void* open_library(const void* bytes, size_t size) {
  std::string path = (std::filesystem::temp_directory_path() / "tilewright_image_XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  const auto* data = static_cast<const char*>(bytes);
  for (size_t done = 0; done < size;) {
    const ssize_t written = write(file, data + done, size - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(path.c_str());
  close(file);
  return library;
}

}  // namespace

std::unique_ptr<Image> load_image(const void* bytes, std::string& problem) {
  const size_t size = library_bytes(bytes);
  void* library = size > 0 ? open_library(bytes, size) : nullptr;
  if (!library) {
    const char* error = size > 0 ? dlerror() : nullptr;
    problem = error ? error : "the emulation runs what its own nvcc made";
    return nullptr;
  }
  auto image = std::make_unique<Image>();
  image->library = std::shared_ptr<void>(library, [](void* opened) { dlclose(opened); });
  return image;
}

Kernel* find_kernel(Image& image, const std::string& name) {
  for (const auto& known : image.kernels) {
    if (known->name == name) return known.get();
  }
  void* library = image.library.get();
  void* code = dlsym(library, ("tilewright_emulated_" + name).c_str());
  const auto* sizes = static_cast<const int*>(dlsym(library, ("tilewright_emulated_sizes_" + name).c_str()));
  if (!code || !sizes) return nullptr;
  auto kernel = std::make_unique<Kernel>();
  kernel->name = name;
  kernel->code = reinterpret_cast<KernelCode>(code);
  for (; *sizes > 0; ++sizes) kernel->sizes.push_back(static_cast<size_t>(*sizes));
  return image.kernels.emplace_back(std::move(kernel)).get();
}

}  // namespace tilewright::emulation
