// Archives of files in the ustar format of POSIX.1-1988, limited to the features that object files need.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::driver {

struct TarMember {
  std::string name;  // at most 100 bytes
  std::string content;
};

/// The archive of `members`, without owners and times: the same members give the same bytes.
std::string write_tar(const std::vector<TarMember>& members);
/// The files of an archive; raises UserError, which calls it `path`, if it ends early or is not an archive.
std::vector<TarMember> read_tar(std::string_view archive, const std::string& path);

}  // namespace tilewright::driver
