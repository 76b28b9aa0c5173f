// Records of tuning in one SQLite file, which any number of processes may read and add to at the same time.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tilewright/records/record.h"

struct sqlite3;

namespace tilewright::records {

/// A loop program that was tuned.
struct Program {
  std::string hash;  // Key::program
  std::string name;  // of the kernel, for people
  std::string json;  // ir::save_json
};

/// Which records a query is about; empty members ask for all.
struct Query {
  std::optional<Key> key = {};
  std::string space = {};
  int64_t limit = 0;           // the fastest ones; 0: all
  bool with_failures = false;  // failed ones come last
  bool only_usable = false;    // without those that may be slower than the default schedule
};

class SqliteDatabase final : public Database {
 public:
  /// Opens `path`, or makes it; ":memory:" is in memory alone.  One that cannot be written is read alone.  Raises UserError if it cannot be opened, is no
  /// database of records, or is of a newer version; the file is left as it is then.
  explicit SqliteDatabase(const std::string& path);
  ~SqliteDatabase() override;

  const std::string& path() const { return path_; }
  /// Waits at most so long for other processes that write; default a minute.
  void set_patience(int milliseconds);
  /// The file grows to so many pages at most; adding more raises UserError, as a full disk does.  0: no limit.
  void set_most_pages(int64_t count);
  /// Adds the program unless it is there.  Raises UserError if the disk is full or the file is damaged.
  void add(const Program& program);
  /// Adds the record, with one write that is done completely or not at all, and returns its id.
  int64_t add(const Record& record);
  std::optional<Record> best(const Key& key) const override;
  /// By time relative to the default schedule (Record::relative), fastest first; those without one by their median.
  std::vector<Record> records(const Query& query = {}) const;
  std::vector<Program> programs() const;
  /// Adds the programs and records of `other` that are not here yet; returns how many records.
  int64_t merge(const SqliteDatabase& other);
  /// Keeps the fastest `count` records of each key and space, those first that surely beat the default schedule, and
  /// the default schedule's; removes the others and returns how many.
  int64_t prune(int64_t count);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  void open();
  void open_for_reading();
  int64_t integer_of(const std::string& sql) const;
  void run(const char* sql, bool may_be_busy = false);
  int64_t stored_version() const;
  void make_tables();
  void add_relative_times();

  std::string path_;
  mutable std::mutex mutex_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace tilewright::records
