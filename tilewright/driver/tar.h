// Archives of files in the ustar format of POSIX.1-1988, as far as object files need it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::driver {

struct TarMember {
  std::string name;  // at most 100 bytes
  std::string content;
};

/// The archive of `members`, whose files have no owner and no time: same members, same bytes.
std::string write_tar(const std::vector<TarMember>& members);
/// Its files; raises UserError, calling the archive `path`, if it ends early or is none.
std::vector<TarMember> read_tar(std::string_view archive, const std::string& path);

}  // namespace tilewright::driver
