#include "tilewright/records/sqlite_database.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "tilewright/records/sqlite.h"
#include "tilewright/support/error.h"

namespace tilewright::records {
namespace {

constexpr int64_t kVersion = 3;  // 1: without scores and relative times; 2: without estimates
constexpr int kBusyMilliseconds = 60'000;
// the fastest first; those that were not measured beside the default schedule come after it, then those that were not
// measured at all, by estimates
constexpr std::string_view kOrder =
    "relative IS NULL, relative, median IS NULL, median, estimate IS NULL, estimate, id";
// what a kernel may be scheduled by: the default schedule, what surely beats it, and what was not measured
constexpr std::string_view kUsable =
    "trace = '' OR beats_default OR (median IS NULL AND estimate IS NOT NULL)";
constexpr std::string_view kWorked = "(median IS NOT NULL OR estimate IS NOT NULL)";
constexpr std::string_view kColumns =
    "id, program, machine, target, space, trace, seconds, baseline, failure, beats_default, changes_sums, "
    "is_cold, "
    "processor, version, time, score, estimate";

std::string seconds_text(const std::vector<double>& seconds) { return nlohmann::json(seconds).dump(); }

Record record_of(const Statement& row) {
  Record record;
  record.id = row.integer(0);
  record.key = {row.text(1), row.text(2)};
  record.target = row.text(3);
  record.space = row.text(4);
  record.trace = row.text(5);
  record.seconds = nlohmann::json::parse(row.text(6)).get<std::vector<double>>();
  record.baseline = nlohmann::json::parse(row.text(7)).get<std::vector<double>>();
  record.failure = row.text(8);
  record.beats_default = row.integer(9) != 0;
  record.changes_sums = row.integer(10) != 0;
  record.is_cold = row.integer(11) != 0;
  record.processor = row.text(12);
  record.version = row.text(13);
  record.time = row.real(14);
  if (!row.is_null(15)) record.score = row.real(15);
  if (!row.is_null(16)) record.estimate = row.real(16);
  return record;
}

// The condition of a query, whose places begin with 1.
std::string condition(const Query& query) {
  std::string text = query.with_failures ? "1" : std::string(kWorked);
  if (query.key) text += " AND program = ?1 AND machine = ?2";
  if (!query.space.empty()) text += " AND space = ?3";
  if (query.only_usable) text += fmt::format(" AND ({})", kUsable);
  return text;
}

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

SqliteDatabase::SqliteDatabase(const std::string& path) : path_(path) {
  open();
  if (sqlite3_db_readonly(handle_.get(), "main") == 1) {
    open_for_reading();
    return;
  }
  if (stored_version() < kVersion) make_tables();
  // one file for readers, and a log that each record is appended to; it stays as it is while others have it open
  run("PRAGMA journal_mode = WAL", true);
  run("PRAGMA synchronous = NORMAL");
}

SqliteDatabase::~SqliteDatabase() = default;

void SqliteDatabase::open() {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code, handle, path_);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
}

// A file that cannot be written can be looked up nevertheless.  Beside it SQLite could not make the files with which
// processes share it, so that it is read as one that nobody changes.
void SqliteDatabase::open_for_reading() {
  handle_.reset();
  sqlite3* handle = nullptr;
  std::string uri = "file:";
  for (const char c : path_)
    uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
  const int code = sqlite3_open_v2((uri + "?immutable=1").c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code, handle, path_);
  if (stored_version() < kVersion)
    throw UserError("{} is of an older version, and cannot be written to bring it up to date", path_)
        .help("copy it to where it can be written");
}

int64_t SqliteDatabase::integer_of(const std::string& sql) const {
  Statement row(handle_.get(), path_, sql);
  row.step();
  return row.integer(0);
}

void SqliteDatabase::run(const char* sql, bool may_be_busy) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && !(may_be_busy && code == SQLITE_BUSY)) fail(code, handle_.get(), path_);
}

int64_t SqliteDatabase::stored_version() const {
  const int64_t version = integer_of("PRAGMA user_version");
  if (version > kVersion)
    throw UserError("{} is a database of version {}, this compiler reads {}", path_, version, kVersion)
        .help("use the compiler that wrote it, or another file; it was left as it is");
  return version;
}

// One of several processes that open a new file makes the tables, and the others wait for it; likewise with what
// tables of an older version lack.
void SqliteDatabase::make_tables() {
  run("BEGIN IMMEDIATE");
  const int64_t version = stored_version();
  if (version == 1) add_relative_times();
  if (version == 1 || version == 2)
    run("ALTER TABLE record ADD COLUMN estimate REAL; PRAGMA user_version = 3");
  if (version == 0) {
    if (integer_of("SELECT count(*) FROM sqlite_master") > 0)
      throw UserError("{} is a database, but not one of tuning records", path_)
          .help("give the path of a new file; it was left as it is");
    run(R"(
CREATE TABLE program(hash TEXT PRIMARY KEY, name TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE record(
  id INTEGER PRIMARY KEY, program TEXT NOT NULL, machine TEXT NOT NULL, target TEXT NOT NULL, space TEXT NOT NULL,
  trace TEXT NOT NULL, seconds TEXT NOT NULL, median REAL, baseline TEXT NOT NULL,
  failure TEXT NOT NULL, beats_default INTEGER NOT NULL, changes_sums INTEGER NOT NULL,
  is_cold INTEGER NOT NULL, processor TEXT NOT NULL, version TEXT NOT NULL, time REAL NOT NULL, score REAL,
  relative REAL, estimate REAL);
CREATE INDEX by_key ON record(program, machine, relative);
PRAGMA user_version = 3;
)");
  }
  run("COMMIT");
}

// Adds what version 1 lacks: columns of the cost model's scores and of relative times, and these times.
void SqliteDatabase::add_relative_times() {
  run("ALTER TABLE record ADD COLUMN score REAL; ALTER TABLE record ADD COLUMN relative REAL; "
      "DROP INDEX IF EXISTS by_key; CREATE INDEX by_key ON record(program, machine, relative); "
      "PRAGMA user_version = 2");
  std::vector<Record> found;
  {
    Statement rows(handle_.get(), path_,
                   fmt::format("SELECT {}, NULL FROM record WHERE median IS NOT NULL",
                               kColumns.substr(0, kColumns.rfind(","))));
    while (rows.step()) found.push_back(record_of(rows));
  }
  for (const Record& record : found) {
    if (const std::optional<double> relative = record.relative())
      Statement(handle_.get(), path_, "UPDATE record SET relative = ?1 WHERE id = ?2")
          .bind(1, *relative)
          .bind(2, record.id)
          .step();
  }
}

void SqliteDatabase::set_patience(int milliseconds) { sqlite3_busy_timeout(handle_.get(), milliseconds); }

void SqliteDatabase::set_most_pages(int64_t count) {
  integer_of(fmt::format("PRAGMA max_page_count = {}", count));
}

void SqliteDatabase::add(const Program& program) {
  std::lock_guard lock(mutex_);
  Statement(handle_.get(), path_, "INSERT OR IGNORE INTO program VALUES(?1, ?2, ?3)")
      .bind(1, program.hash)
      .bind(2, program.name)
      .bind(3, program.json)
      .step();
}

int64_t SqliteDatabase::add(const Record& record) {
  std::lock_guard lock(mutex_);
  Statement statement(
      handle_.get(), path_,
      "INSERT INTO record(program, machine, target, space, trace, seconds, median, baseline, failure, "
      "beats_default, changes_sums, is_cold, processor, version, time, score, relative, estimate) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)");
  statement.bind(1, record.key.program)
      .bind(2, record.key.machine)
      .bind(3, record.target)
      .bind(4, record.space)
      .bind(5, record.trace)
      .bind(6, seconds_text(record.seconds))
      .bind(8, seconds_text(record.baseline))
      .bind(9, record.failure)
      .bind(10, int64_t{record.beats_default})
      .bind(11, int64_t{record.changes_sums})
      .bind(12, int64_t{record.is_cold})
      .bind(13, record.processor)
      .bind(14, record.version)
      .bind(15, record.time != 0 ? record.time : static_cast<double>(std::time(nullptr)));
  if (record.score) statement.bind(16, *record.score);
  if (record.estimate) statement.bind(18, *record.estimate);
  if (!record.seconds.empty()) {
    statement.bind(7, record.median());
    if (const std::optional<double> relative = record.relative()) statement.bind(17, *relative);
  }
  statement.step();
  return sqlite3_last_insert_rowid(handle_.get());
}

std::vector<Record> SqliteDatabase::records(const Query& query) const {
  std::lock_guard lock(mutex_);
  std::string sql =
      fmt::format("SELECT {} FROM record WHERE {} ORDER BY {}", kColumns, condition(query), kOrder);
  if (query.limit > 0) sql += fmt::format(" LIMIT {}", query.limit);
  Statement rows(handle_.get(), path_, sql);
  if (query.key) rows.bind(1, query.key->program).bind(2, query.key->machine);
  if (!query.space.empty()) rows.bind(3, query.space);
  std::vector<Record> found;
  while (rows.step()) found.push_back(record_of(rows));
  return found;
}

std::optional<Record> SqliteDatabase::best(const Key& key) const {
  std::vector<Record> found = records({.key = key, .limit = 1, .only_usable = true});
  if (found.empty()) return std::nullopt;
  return std::move(found[0]);
}

std::vector<Program> SqliteDatabase::programs() const {
  std::lock_guard lock(mutex_);
  Statement rows(handle_.get(), path_, "SELECT hash, name, json FROM program ORDER BY name, hash");
  std::vector<Program> found;
  while (rows.step()) found.push_back({rows.text(0), rows.text(1), rows.text(2)});
  return found;
}

int64_t SqliteDatabase::merge(const SqliteDatabase& other) {
  const auto text_of = [](const Record& record) {
    return nlohmann::json{record.key.program, record.key.machine, record.space, record.trace,
                          record.seconds,     record.failure,     record.time}
        .dump();
  };
  std::unordered_set<std::string> known;
  for (const Record& record : records({.with_failures = true})) known.insert(text_of(record));
  for (const Program& program : other.programs()) add(program);
  int64_t count = 0;
  for (const Record& record : other.records({.with_failures = true})) {
    if (!known.insert(text_of(record)).second) continue;
    add(record);
    ++count;
  }
  return count;
}

int64_t SqliteDatabase::prune(int64_t count) {
  if (count < 1) throw UserError("prune: {} records are to be kept, expected at least 1", count);
  std::lock_guard lock(mutex_);
  Statement(handle_.get(), path_,
            fmt::format(
                "DELETE FROM record WHERE id NOT IN (SELECT id FROM (SELECT id, trace, median, estimate, "
                "row_number() OVER (PARTITION BY program, machine, space ORDER BY NOT ({0}), {1}) AS place, "
                "row_number() OVER (PARTITION BY program, machine, space, trace = '' ORDER BY {1}) AS other "
                "FROM record) WHERE (place <= ?1 OR (trace = '' AND other = 1)) AND {2})",
                kUsable, kOrder, kWorked))
      .bind(1, count)
      .step();
  return sqlite3_changes64(handle_.get());
}

}  // namespace tilewright::records
