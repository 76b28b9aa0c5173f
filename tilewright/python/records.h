// Databases of tuning records as arguments of bindings.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "tilewright/records/record.h"

namespace tilewright::python {

/// The database that a Python object stands for, during the lifetime of this object; null for None.
class DatabaseArg {
 public:
  /// value  None, a database of ours, or any object whose best(key) returns a record or None
  explicit DatabaseArg(nanobind::handle value);
  ~DatabaseArg();
  DatabaseArg(const DatabaseArg&) = delete;
  DatabaseArg& operator=(const DatabaseArg&) = delete;
  const records::Database* get() const { return database_; }

 private:
  std::unique_ptr<records::Database> of_python_;
  const records::Database* database_ = nullptr;
};

}  // namespace tilewright::python
