#include "tilewright/runtime/elf_check.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "tilewright/runtime/vm/checksum.h"
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

constexpr std::string_view kSealMark = "TWSEAL1\n";
constexpr size_t kSealBytes = 16;

/// The bytes of a file, mapped into memory.
class MappedFile {
 public:
  MappedFile(const std::string& path, size_t num_bytes) : num_bytes_(num_bytes) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* mapped = mmap(nullptr, num_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped != MAP_FAILED) data_ = mapped;
  }
  ~MappedFile() {
    if (data_) munmap(data_, num_bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), data_ ? num_bytes_ : 0};
  }

 private:
  void* data_ = nullptr;
  size_t num_bytes_;
};

// True if the seal is wrong.  A library without a seal was stripped, or linked from our objects by another
// tool, and passes.
bool has_wrong_seal(const std::string& path, uint64_t file_bytes) {
  const MappedFile file(path, file_bytes);
  if (file.bytes().size() < kSealBytes) return false;
  const std::span<const std::byte> seal = file.bytes().last(kSealBytes);
  if (std::memcmp(seal.data(), kSealMark.data(), kSealMark.size()) != 0) return false;
  const std::string right = library_seal(file.bytes().first(file_bytes - kSealBytes));
  return std::memcmp(seal.data(), right.data(), kSealBytes) != 0;
}

bool fits(uint64_t offset, uint64_t bytes, uint64_t file_bytes) {
  return offset <= file_bytes && bytes <= file_bytes - offset;
}

}  // namespace

std::string library_seal(std::span<const std::byte> library) {
  const uint64_t sum = vm::checksum(library);
  std::string seal(kSealMark);
  for (size_t n = 0; n < sizeof sum; ++n) seal += static_cast<char>(sum >> (8 * n) & 0xFF);
  return seal;
}

void check_shared_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw UserError("cannot load {}: the file cannot be read", path);
  const auto file_bytes = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    throw UserError("cannot load {}: it is not a shared library", path)
        .help("make one with `tilewright compile`");
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
  if (has_wrong_seal(path, file_bytes))
    throw UserError("cannot load {}: it is damaged, its checksum is wrong", path)
        .help("compile or copy it again");
}

}  // namespace tilewright::runtime
