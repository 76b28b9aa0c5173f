// Replaces a device of I.module_global_infos({"vdevice": [...]}), and with it the device of all tensors that are there.
//   update_vdevice({"target": "cuda"}, 0):  R.Tensor((5,), "float32", "llvm:0")  ->  R.Tensor((5,), "float32", "cuda:0")
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  Dict new_vdevice;
  int64_t index = 0;
  static constexpr auto fields() {
    return std::tuple{field<&Options::new_vdevice>("new_vdevice", "what I.vdevice(\"cuda\", 0) gives"),
                      field<&Options::index>("index", "the number in the list of the device to replace")};
  }
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  const ObjectRef given = module->global_infos.get(kVDevices);
  const auto* entries = given.as<ArrayNode>();
  const auto count = static_cast<int64_t>(entries ? entries->items.size() : 0);
  if (options.index < 0 || options.index >= count)
    throw UserError("there is no device {}: the module has {}", options.index, count_text(count, "device"));
  vdevice_of(options.new_vdevice);  // raises if it describes no device
  std::vector<ObjectRef> changed = entries->items;
  changed[static_cast<size_t>(options.index)] = options.new_vdevice;
  const VDevices before(module);
  const IRModule infos = with(module, [&](IRModuleNode& node) {
    node.global_infos.set(std::string(kVDevices), ArrayNode::make(std::move(changed)));
  });
  const VDevices after(infos);
  return with_device_names(infos, [&](const std::string& name, const Expr& where, bool) {
    return after[before.find(name, where)].name;
  });
}

}  // namespace

extern constinit const PassInfo update_vdevice_info = module_pass<run, Options>(
    "update_vdevice", "Replaces a device of the module's list, and moves the tensors that are there.");

}  // namespace tilewright::relax
