#include "tilewright/driver/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "tilewright/support/format.h"

namespace tilewright::driver {
namespace {

constexpr size_t aligned(size_t size) { return (size + 3) / 4 * 4; }

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// The build ID among the notes of one segment.
std::string id_in(std::string_view notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t begin = sizeof note + aligned(note.n_namesz);
    if (begin + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, 4) == std::string_view("GNU", 4))
      return hex_of(notes.substr(begin, note.n_descsz));
    notes.remove_prefix(std::min(notes.size(), begin + aligned(note.n_descsz)));
  }
  return "";
}

struct Search {
  uintptr_t place;  // an address inside the library or program that is searched for
  std::string id;
};

int look_into(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool is_it = false;
  std::string id;
  for (size_t n = 0; n < object->dlpi_phnum; ++n) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[n];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD)
      is_it |= search.place >= begin && search.place < begin + segment.p_memsz;
    else if (segment.p_type == PT_NOTE && id.empty())
      id = id_in({reinterpret_cast<const char*>(begin), segment.p_memsz});
  }
  if (is_it) search.id = id;
  return is_it;
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<uintptr_t>(&look_into), ""};
  dl_iterate_phdr(look_into, &search);
  return search.id;
}

}  // namespace tilewright::driver
