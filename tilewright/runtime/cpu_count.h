// The number of CPUs that this process may really use.
#pragma once
#include <string>

namespace tilewright::runtime {

/// The CPUs of the affinity mask, limited to the quota of the process's cgroups (v2 or v1), rounded up; at
/// least 1.
int count_usable_cpus();
/// The quota in CPUs that a cgroup v2 `cpu.max` text such as "150000 100000" allows, rounded up; 0 when
/// unlimited or malformed.
int parse_cpu_max(const std::string& text);

}  // namespace tilewright::runtime
