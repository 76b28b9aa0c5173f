// How many CPUs this process may really use.
#pragma once
#include <string>

namespace tilewright::runtime {

/// CPUs of the affinity mask, at most the quota of the cgroups (v2 or v1) the process is in, rounded up; at
/// least 1.
int count_usable_cpus();
/// The quota in CPUs that a cgroup v2 `cpu.max` text such as "150000 100000" allows, rounded up; 0 when
/// unlimited or malformed.
int parse_cpu_max(const std::string& text);

}  // namespace tilewright::runtime
