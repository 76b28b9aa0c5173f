#include "tilewright/runtime/elf_check.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#else
#error "name the ELF machine of this CPU here"
#endif

bool read_at(std::ifstream& file, uint64_t offset, void* to, uint64_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return file.good();
}

bool fits(uint64_t offset, uint64_t bytes, uint64_t file_bytes) {
  return offset <= file_bytes && bytes <= file_bytes - offset;
}

}  // namespace

void check_shared_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw UserError("cannot load {}: the file cannot be read", path);
  const auto file_bytes = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    throw UserError("cannot load {}: it is not a shared library", path);
  }
  if (header.e_machine != kMachine) {
    throw UserError("cannot load {}: it is for another kind of CPU (ELF machine {}, this is {})", path,
                    header.e_machine, kMachine)
        .help("compile the model with a target of this machine");
  }
  bool is_whole = header.e_phentsize == sizeof(Elf64_Phdr) &&
                  fits(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), file_bytes) &&
                  fits(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, file_bytes);
  for (uint64_t n = 0; is_whole && n < header.e_phnum; ++n) {
    Elf64_Phdr segment;
    is_whole = read_at(file, header.e_phoff + n * sizeof segment, &segment, sizeof segment) &&
               fits(segment.p_offset, segment.p_filesz, file_bytes);
  }
  if (!is_whole) {
    throw UserError("cannot load {}: it is truncated at {} bytes", path, file_bytes)
        .help("compile or copy it again");
  }
}

}  // namespace tilewright::runtime
