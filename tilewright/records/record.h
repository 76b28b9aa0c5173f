// What tuning has measured: a schedule of a loop program, and how fast it was on which machine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::records {

/// What a record is for: a loop program, and a machine as schedules see it.  Equal keys mean equal code.
struct Key {
  std::string program;  // 32 hexadecimal digits: a hash of the loop program without its name
  std::string machine;  // the same of the kind of target, its features and the version of the kernel ABI
  friend bool operator==(const Key&, const Key&) = default;
};

/// Key::machine of targets of `kind`, e.g. "llvm", with `features`.
std::string machine_key(std::string_view kind, const target::Features& features);
/// The same for GPUs.
std::string machine_key(std::string_view kind, const target::GpuFeatures& features);
/// The key of `func` on such a machine.
Key key_of(const tir::PrimFunc& func, std::string machine);

/// One trial.
struct Record {
  int64_t id = 0;  // in its database, from 1 on; 0: it is in none
  Key key;
  std::string target;           // as text
  std::string space;            // the name of the space that it comes from: "default"
  std::string trace;            // JSON (schedule/trace.h); empty: as rules schedule it
  std::vector<double> seconds;  // per call, one for each measurement; empty: it failed
  std::vector<double>
      baseline;                // of the default schedule, measured in turns with this one; empty: it was not
  std::string failure;         // the reason; empty: it was measured
  bool beats_default = false;  // it is surely faster than the default schedule: their times do not overlap
  bool changes_sums = false;   // it adds in another order than the program that rules make
  bool is_cold = false;        // caches were emptied before each measurement
  std::optional<double> score =
      {};  // of the cost model before it was measured: higher is faster; nullopt: unknown
  /// Cycles by a model, of a record that was not measured: no time, and no record that was measured loses to it;
  /// nullopt: it was measured, or failed.
  std::optional<double> estimate = {};
  std::string processor;  // of the machine that measured it, for people
  std::string version;    // of the compiler
  double time = 0;        // when it was added, in seconds since 1970

  /// The median of `seconds`; infinity if it failed.
  double median() const;
  /// The median of its time over that of the default schedule in the same round: 1 of the default schedule, infinity
  /// if it failed; nullopt if the default schedule was not measured beside it.  What the machine did meanwhile met
  /// both, so that records of different hours compare.
  std::optional<double> relative() const;
};

/// Where schedules of kernels are looked up.
class Database {
 public:
  virtual ~Database() = default;
  /// The fastest record for `key` that beats the default schedule, or is the default schedule; nullopt if there
  /// is none.
  virtual std::optional<Record> best(const Key& key) const = 0;
};

}  // namespace tilewright::records
