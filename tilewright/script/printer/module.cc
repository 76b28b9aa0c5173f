// @I.ir_module class Module: attributes and functions.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/script/printer/writer.h"

namespace tilewright::script {
using namespace ir;
namespace {

bool holds_constants(const BaseFunc& func) {
  bool found = false;
  walk(func, [&](const relax::ConstantNode*) { found = true; });
  return found;
}

// The order of functions in the published texts of 2022: functions with constants first, so that constants
// are numbered from the top; then callees before their callers, and of two callees
// the one called later first.
class OrderOf2022 {
 public:
  explicit OrderOf2022(const IRModuleNode* module)
      : module_(module), done_(module->functions.size(), false) {}

  std::vector<size_t> run() {
    for (size_t n = 0; n < done_.size(); ++n) {
      if (holds_constants(module_->functions[n])) emit(n);
    }
    for (const size_t n : callers_first()) visit(n);
    return std::move(order_);
  }

 private:
  void emit(size_t n) {
    if (!done_[n]) order_.push_back(n);
    done_[n] = true;
  }
  std::vector<size_t> callees(size_t n) const {
    std::vector<size_t> result;
    walk(module_->functions[n], [&](const GlobalVarNode* callee) {
      for (size_t m = 0; m < module_->global_vars.size(); ++m) {
        if (module_->global_vars[m]->name_hint == callee->name_hint && m != n) result.push_back(m);
      }
    });
    return result;
  }
  // Functions that are never called, then the rest.
  std::vector<size_t> callers_first() const {
    std::vector<bool> is_called(done_.size(), false);
    for (size_t n = 0; n < done_.size(); ++n) {
      for (const size_t callee : callees(n)) is_called[callee] = true;
    }
    std::vector<size_t> result;
    for (const bool called : {false, true}) {
      for (size_t n = 0; n < done_.size(); ++n) {
        if (is_called[n] == called) result.push_back(n);
      }
    }
    return result;
  }
  void visit(size_t n) {
    if (done_[n] || std::find(open_.begin(), open_.end(), n) != open_.end()) return;
    open_.push_back(n);
    std::vector<size_t> called = callees(n);
    for (size_t m = called.size(); m-- > 0;) visit(called[m]);
    open_.pop_back();
    emit(n);
  }

  const IRModuleNode* module_;
  std::vector<bool> done_;
  std::vector<size_t> open_, order_;
};

void attributes_line(Writer& writer, std::string_view function, const AttrMap& attrs) {
  if (attrs.empty()) return;
  writer.begin_line();
  writer.out += fmt::format("{}.{}(", writer.options.ir_alias, function);
  writer.attributes(attrs);
  writer.out += ')';
  writer.end_line();
}

}  // namespace

void print_module(Writer& writer, const IRModuleNode* module) {
  writer.line(writer.is_2022() ? "@tvm.script.ir_module"
                               : fmt::format("@{}.ir_module", writer.options.ir_alias));
  writer.begin_line();
  const size_t begin = writer.out.size();
  writer.module_name = identifier(writer.options.module_name);
  writer.out += fmt::format("class {}:", writer.module_name);
  writer.place(module, begin);
  writer.end_line();
  std::vector<size_t> order;
  for (size_t n = 0; n < module->functions.size(); ++n) order.push_back(n);
  if (writer.is_2022()) order = OrderOf2022(module).run();
  writer.indented([&] {
    attributes_line(writer, "module_attrs", module->attrs);
    attributes_line(writer, "module_global_infos", module->global_infos);
    for (size_t n = 0; n < order.size(); ++n) {
      if (n > 0 && !writer.is_2022()) writer.end_line();
      const BaseFuncNode* func = module->functions[order[n]].get();
      const std::string& name = module->global_vars[order[n]]->name_hint;
      writer.function_prefix = writer.is_2022() ? "" : writer.module_name + ".";
      if (tir::PrimFuncNode::classof(*func))
        print_prim_func(writer, static_cast<const tir::PrimFuncNode*>(func), name);
      else
        print_graph_function(writer, func, name);
    }
    if (module->functions.empty() && module->attrs.empty() && module->global_infos.empty())
      writer.line("pass");
  });
}

}  // namespace tilewright::script
