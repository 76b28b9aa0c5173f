// Bindings for databases of tuning records, and for kernels as what is tuned.
#include "tilewright/python/records.h"

#include <nanobind/stl/string.h>

#include "tilewright/c_api.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/driver/kernel.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/records/apply.h"
#include "tilewright/records/json.h"
#include "tilewright/records/sqlite_database.h"
#include "tilewright/relax/graph/relax.h"

namespace nb = nanobind;

namespace tilewright::python {
namespace {

using records::Key;
using records::Record;
using records::SqliteDatabase;

// A database that is written in Python.
class PythonDatabase final : public records::Database {
 public:
  explicit PythonDatabase(nb::handle object) : object_(nb::borrow(object)) {}
  std::optional<Record> best(const Key& key) const override {
    return locked([&]() -> std::optional<Record> {
      const nb::object found = object_.attr("best")(key);
      if (found.is_none()) return std::nullopt;
      return nb::cast<Record>(found);
    });
  }

 private:
  nb::object object_;
};

void bind_record(nb::module_& m) {
  nb::class_<Key>(m, "RecordKey", "What a record is for: a loop program, and a machine.")
      .def(nb::init<std::string, std::string>(), nb::arg("program"), nb::arg("machine"))
      .def_ro("program", &Key::program)
      .def_ro("machine", &Key::machine)
      .def("__eq__", [](const Key& a, const Key& b) { return a == b; })
      .def("__hash__", [](const Key& self) { return nb::hash(nb::make_tuple(self.program, self.machine)); })
      .def("__repr__", [](const Key& self) {
        return fmt::format("RecordKey(program={}, machine={})", self.program, self.machine);
      });
  nb::class_<Record>(m, "Record", "One trial: a schedule, and the times that were measured.")
      .def(nb::init<>())
      .def_ro("id", &Record::id)
      .def_rw("key", &Record::key)
      .def_rw("target", &Record::target)
      .def_rw("space", &Record::space)
      .def_rw("trace_json", &Record::trace)
      .def_rw("seconds", &Record::seconds)
      .def_rw("baseline", &Record::baseline)
      .def_rw("failure", &Record::failure)
      .def_rw("beats_default", &Record::beats_default)
      .def_rw("changes_sums", &Record::changes_sums)
      .def_rw("is_cold", &Record::is_cold)
      .def_rw("score", &Record::score, nb::arg("score").none())
      .def_rw("estimate", &Record::estimate, nb::arg("estimate").none())
      .def_rw("processor", &Record::processor)
      .def_rw("version", &Record::version)
      .def_rw("time", &Record::time)
      .def_prop_ro("median", &Record::median)
      .def_prop_ro("relative", &Record::relative)
      .def("to_json", &records::to_json)
      .def_static(
          "from_json", [](const std::string& text) { return records::from_json(text); }, nb::arg("text"));
}

void bind_database(nb::module_& m) {
  nb::class_<SqliteDatabase>(m, "RecordFile", "Records of tuning in a SQLite file.")
      .def(nb::init<const std::string&>(), nb::arg("path"))
      .def_prop_ro("path", &SqliteDatabase::path)
      .def("set_patience", &SqliteDatabase::set_patience)
      .def("set_most_pages", &SqliteDatabase::set_most_pages)
      .def("add_program",
           [](SqliteDatabase& self, const Key& key, const std::string& name, const tir::PrimFunc& func) {
             self.add(records::Program{key.program, name, ir::save_json(func)});
           })
      .def("add", [](SqliteDatabase& self, const Record& record) { return self.add(record); })
      .def("best", &SqliteDatabase::best)
      .def(
          "records",
          [](const SqliteDatabase& self, std::optional<Key> key, const std::string& space, int64_t limit,
             bool with_failures) {
            return self.records({std::move(key), space, limit, with_failures, false});
          },
          nb::arg("key").none(), nb::arg("space"), nb::arg("limit"), nb::arg("with_failures"))
      .def("programs",
           [](const SqliteDatabase& self) {
             nb::list found;
             for (const records::Program& each : self.programs())
               found.append(nb::make_tuple(each.hash, each.name, ir::load_json(each.json)));
             return found;
           })
      .def("merge", &SqliteDatabase::merge)
      .def("prune", &SqliteDatabase::prune);
}

}  // namespace

DatabaseArg::DatabaseArg(nb::handle value) {
  if (value.is_none()) return;
  if (nb::isinstance<SqliteDatabase>(value)) {
    database_ = nb::cast<const SqliteDatabase*>(value);
    return;
  }
  of_python_ = std::make_unique<PythonDatabase>(value);
  database_ = of_python_.get();
}

DatabaseArg::~DatabaseArg() = default;

void bind_records(nb::module_& m) {
  bind_record(m);
  bind_database(m);
  // [(name, function, key, number of calls in graph functions, at least 1)] of the loop programs of a module
  m.def("tuning_tasks", [](const ir::IRModule& module, const ir::Target& target) {
    const driver::Generator generator = driver::make_generator(target);
    std::map<std::string, int64_t> num_calls;
    for (const ir::BaseFunc& func : module->functions) {
      if (!ir::is<relax::FunctionNode>(func)) continue;
      ir::walk(func, [&](const ir::GlobalVarNode* var) {
        const auto callee = ir::ref_as<tir::PrimFuncNode>(module->find(var->name_hint));
        if (callee) ++num_calls[callee->attrs.get_string("global_symbol", var->name_hint)];
      });
    }
    nb::list found;
    for (const driver::Kernel& kernel :
         driver::kernels_of(module, true, false, driver::machine_key(target, generator)))
      found.append(
          nb::make_tuple(kernel.name, kernel.func, kernel.key, std::max<int64_t>(1, num_calls[kernel.name])));
    return found;
  });
  // [(kernel, record)] that the library of a model carries
  m.def("library_records", [](const std::string& path) {
    nb::list found;
    for (const auto& [name, record] :
         driver::noted_records(driver::load_model(runtime::Module::load(path)).executable()))
      found.append(nb::make_tuple(name, record));
    return found;
  });
  m.attr("record_function") = records::kFunction;
  m.attr("version") = tilewright_version();
}

}  // namespace tilewright::python
