#include "tilewright/analysis/specialize.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::analysis {
using namespace tir;
namespace {

/// Values of the variables of one function.
class Values {
 public:
  explicit Values(const PrimFunc& func) {
    for (const Var& param : func->params) known_.insert(param.get());
    auto note = [&](const VarNode* var) { known_.insert(var); };
    for (const Buffer& buffer : func->buffers) {
      if (!buffer) continue;
      for (const PrimExpr& extent : buffer->shape) walk(extent, note);
      for (const PrimExpr& stride : buffer->strides) walk(stride, note);
      walk(buffer->elem_offset, note);
    }
  }

  void set(const Var& var, const PrimExpr& value) {
    if (!known_.contains(var.get()))
      throw UserError("specialize: {} is neither a parameter nor a variable in the shape of one",
                      var->name_hint);
    if (value->dtype != var->dtype)
      throw UserError("specialize: {} is {}, its value {}", var->name_hint, var->dtype.str(),
                      value->dtype.str());
    const auto [known, is_new] = substitution_.emplace(var.get(), value);
    if (!is_new && !structural_equal(known->second, value))
      throw UserError("specialize: {} gets two values, {} and {}", var->name_hint,
                      expr_text(ref_as<PrimExprNode>(known->second)), expr_text(value));
  }

  // Records that `own`, an extent, stride or offset of a parameter, equals `given`.
  void match(const Buffer& buffer, const PrimExpr& own, const PrimExpr& given) {
    if (const auto* var = own.as<VarNode>()) return set(Var(var), cast(var->dtype, given));
    if (!structural_equal(own, cast(own->dtype, given)))
      throw UserError("specialize: buffer {} has {} where the given one has {}", buffer->name, expr_text(own),
                      expr_text(given));
  }

  bool has(const VarNode* var) const { return substitution_.contains(var); }
  const Substitution& substitution() const { return substitution_; }

 private:
  std::unordered_set<const Object*> known_;
  Substitution substitution_;
};

void match_buffers(Values& values, const Buffer& own, const Buffer& given) {
  if (own->dtype != given->dtype)
    throw UserError("specialize: buffer {} is {}, the given one {}", own->name, own->dtype.str(),
                    given->dtype.str());
  if (own->shape.size() != given->shape.size() || own->strides.size() != given->strides.size())
    throw UserError("specialize: buffer {} has {} and {} strides, the given one {} and {}", own->name,
                    count_text(own->shape.size(), "dimension"), own->strides.size(), given->shape.size(),
                    given->strides.size());
  for (size_t n = 0; n < own->shape.size(); ++n) values.match(own, own->shape[n], given->shape[n]);
  for (size_t n = 0; n < own->strides.size(); ++n) values.match(own, own->strides[n], given->strides[n]);
  if (own->elem_offset && given->elem_offset) values.match(own, own->elem_offset, given->elem_offset);
}

}  // namespace

PrimFunc specialize(const PrimFunc& func, const std::vector<std::pair<Var, ObjectRef>>& given) {
  Values values(func);
  for (const auto& [var, value] : given) {
    const Buffer own = func->buffer_of(var.get());
    const auto* buffer = value.as<BufferNode>();
    if (own && !buffer)
      throw UserError("specialize: {} is a buffer, but its value is not", own->name)
          .help("give a buffer of the wanted shape, or values for the variables of its shape");
    if (buffer && !own) throw UserError("specialize: {} is not a buffer, but its value is", var->name_hint);
    if (buffer)
      match_buffers(values, own, Buffer(buffer));
    else
      values.set(var, ref_as<PrimExprNode>(value));
  }
  if (values.substitution().empty()) return func;
  const PrimFunc changed = substitute(func, values.substitution());
  return with(changed, [&](PrimFuncNode& n) {
    n.params.clear(), n.buffers.clear();
    for (size_t p = 0; p < func->params.size(); ++p) {
      if (values.has(func->params[p].get())) continue;
      n.params.push_back(func->params[p]);
      n.buffers.push_back(changed->buffers[p]);
    }
  });
}

}  // namespace tilewright::analysis
