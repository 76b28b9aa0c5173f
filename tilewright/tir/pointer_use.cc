#include "tilewright/tir/pointer_use.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tilewright/tir/op.h"

namespace tilewright::tir {
namespace {

struct KnownUse {
  std::string_view op;
  size_t argument;
  PointerUse use;
};
constexpr PointerUse kRead = {true, false}, kWritten = {false, true}, kBoth = {true, true};
constexpr KnownUse kUses[] = {
    {"tir.ptx_ldmatrix", 3, kWritten}, {"tir.ptx_ldmatrix", 5, {true, false, true}},
    {"tir.ptx_mma", 6, kRead},         {"tir.ptx_mma", 8, kRead},
    {"tir.ptx_mma", 10, kBoth},        {"tir.ptx_cp_async", 0, kWritten},
    {"tir.ptx_cp_async", 2, kRead},
};

}  // namespace

PointerUse pointer_use(const CallNode* call, size_t n) {
  const auto* known = std::find_if(std::begin(kUses), std::end(kUses), [&](const KnownUse& each) {
    return each.argument == n && is_call_of(call, each.op);
  });
  return known == std::end(kUses) ? PointerUse() : known->use;
}

const BufferLoadNode* pointed_to(const PrimExpr& arg) {
  const auto* address = arg.as<CallNode>();
  return address && is_call_of(address, "tir.address_of") ? address->args[0].as<BufferLoadNode>() : nullptr;
}

}  // namespace tilewright::tir
