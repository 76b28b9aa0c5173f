#include "tilewright/driver/reproducible.h"

#include "tilewright/ir/target.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

Reproducible::Reproducible(const ir::Target& target, ir::PassContext& context,
                           const records::Database* records) {
  if (target->kind_name == "c" && target->attrs.get_string("fp-contract", "") != "off")
    throw UserError("reproducible: the C compiler decides about multiply-adds of target c")
        .help("add -fp-contract=off to the target");
  context.disabled.emplace_back("winograd");
  same_sums_.records = records;
}

std::optional<records::Record> Reproducible::SameSums::best(const records::Key& key) const {
  std::optional<records::Record> found = records->best(key);
  return found && found->changes_sums ? std::nullopt : found;
}

}  // namespace tilewright::driver
