#include "tilewright/schedule/intrinsics/tensor_intrin.h"

#include <map>
#include <mutex>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/intrinsics/dot.h"
#include "tilewright/schedule/intrinsics/mma.h"
#include "tilewright/schedule/intrinsics/transpose.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/near.h"

namespace tilewright::schedule {
namespace {

// Intrinsics of which there are many, by sizes and dtypes: each family makes those whose names it knows, so
// that a trace can name one that nobody has registered.
using Family = std::optional<TensorIntrin> (*)(const std::string& name);
constexpr Family kFamilies[] = {dot_intrinsic, transpose_intrinsic, mma_intrinsic};

// As the runtime's function registry: names that Python registers and traces refer to.
struct Registry {
  std::mutex mutex;
  std::map<std::string, TensorIntrin> intrins;
};
Registry& registry() {
  static Registry instance;
  return instance;
}

void require_fit(const std::string& name, const TensorIntrin& intrin) {
  for (const PrimFunc& func : {intrin.desc, intrin.impl}) {
    const auto* root = func ? func->body.as<BlockRealizeNode>() : nullptr;
    if (!root) throw UserError("tensor intrinsic \"{}\": both functions need a block", name);
    for (const Buffer& buffer : func->buffers) {
      if (!buffer) throw UserError(func, "tensor intrinsic \"{}\": all parameters must be buffers", name);
      for (const PrimExpr& extent : buffer->shape) {
        if (!is<IntImmNode>(extent))
          throw UserError(func, "tensor intrinsic \"{}\": buffer {} has a shape that is not constant", name,
                          buffer->name);
      }
    }
  }
  if (intrin.desc->buffers.size() != intrin.impl->buffers.size())
    throw UserError("tensor intrinsic \"{}\": the description has {}, the implementation {}", name,
                    count_text(intrin.desc->buffers.size(), "parameter"), intrin.impl->buffers.size());
  for (size_t n = 0; n < intrin.desc->buffers.size(); ++n) {
    const Buffer &a = intrin.desc->buffers[n], &b = intrin.impl->buffers[n];
    bool fits = a->dtype == b->dtype && a->shape.size() == b->shape.size();
    for (size_t dim = 0; fits && dim < a->shape.size(); ++dim)
      fits = structural_equal(a->shape[dim], b->shape[dim]);
    if (!fits)
      throw UserError("tensor intrinsic \"{}\": parameters {} and {} have different shapes or dtypes", name,
                      a->name, b->name);
  }
}

}  // namespace

void register_tensor_intrin(const std::string& name, TensorIntrin intrin, bool may_override) {
  require_fit(name, intrin);
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  if (!may_override && known.intrins.contains(name))
    throw UserError("tensor intrinsic \"{}\" is registered already", name)
        .help("pass override=True to replace it");
  known.intrins[name] = std::move(intrin);
}

TensorIntrin get_tensor_intrin(const std::string& name) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  auto it = known.intrins.find(name);
  if (it != known.intrins.end()) return it->second;
  for (const Family family : kFamilies) {
    if (const std::optional<TensorIntrin> made = family(name)) return *made;
  }
  std::vector<std::string_view> names;
  for (const auto& entry : known.intrins) names.push_back(entry.first);
  UserError error("there is no tensor intrinsic \"{}\"", name);
  if (!names.empty()) error.help("{}", nearest_names_text(name, names));
  throw error;
}

}  // namespace tilewright::schedule
