#include "tilewright/runtime/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tilewright/runtime/thread_pool.h"

namespace tilewright::runtime {
namespace {

int count_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // fails on machines with more CPUs than the fixed-size set holds (1024)
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, kMaxThreads));
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The path of this process below the root of the hierarchy: "0::/a/b" (v2), or "4:cpu,cpuacct:/a/b" (v1).
std::string cgroup_path(bool is_v2) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (is_v2 ? controllers == ",," : controllers.find(",cpu,") != std::string::npos)
      return line.substr(second + 1);
  }
  return {};
}

// The smallest quota between this process's group and the root.  Inside a container the path may name a group
// outside of the mount; then only the root of the mount counts.
template <class Quota>
int tightest_quota(const std::string& root, std::string path, Quota quota) {
  int tightest = 0;
  for (;;) {
    const int cpus = quota(root + (path == "/" ? "" : path));
    if (cpus > 0) tightest = tightest == 0 ? cpus : std::min(tightest, cpus);
    if (path.empty() || path == "/") return tightest;
    path.resize(path.rfind('/'));
  }
}

int cgroup_quota() {
  const int v2 = tightest_quota("/sys/fs/cgroup", cgroup_path(true), [](const std::string& group) {
    return parse_cpu_max(read_line(group + "/cpu.max"));
  });
  if (v2 > 0) return v2;
  return tightest_quota("/sys/fs/cgroup/cpu", cgroup_path(false), [](const std::string& group) {
    return parse_cpu_max(read_line(group + "/cpu.cfs_quota_us") + " " +
                         read_line(group + "/cpu.cfs_period_us"));
  });
}

}  // namespace

int parse_cpu_max(const std::string& text) {
  std::istringstream stream(text);
  long long quota = 0, period = 0;
  if (!(stream >> quota >> period) || quota <= 0 || period <= 0) return 0;  // "max 100000", "-1 100000"
  return static_cast<int>(std::min<long long>((quota + period - 1) / period, kMaxThreads));
}

int count_usable_cpus() {
  const int cpus = count_affinity(), quota = cgroup_quota();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

}  // namespace tilewright::runtime
