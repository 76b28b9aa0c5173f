// What the descriptions of CPUs and GPUs have in common: rows for people, the text of all values, values with their
// sources.
#pragma once
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "tilewright/support/format.h"
#include "tilewright/target/features.h"

namespace tilewright::target {

/// Appends the fields of `description`; those without a source have that of `common`.
template <class T>
void append_rows(const T& description, const FeatureSources& sources, const std::string& common,
                 std::vector<FeatureRow>* rows) {
  const auto add = [&](const auto& field) {
    const auto source = sources.find(field.name);
    rows->push_back({field.name, description.*field.member, field.unit, field.doc,
                     source == sources.end() ? common : source->second});
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::fields());
}

inline std::string values_text(const std::vector<FeatureRow>& rows) {
  std::string text;
  for (const FeatureRow& row : rows)
    std::visit([&](auto value) { text += fmt::format("{} ", value); }, row.value);
  return text;
}

/// Sets features, and remembers where they come from.  part(features, std::type_identity<Owner>()) is the part of the
/// description that has the fields of Owner.
template <class Known>
class FeatureBuilder {
 public:
  using Description = decltype(Known::features);
  Known known;

  template <class Owner, class T>
  void set(T Owner::* member, T value, const std::string& source) {
    part(known.features, std::type_identity<Owner>()).*member = value;
    std::apply([&](const auto&... field) { (remember(field, member, source), ...); }, Owner::fields());
  }
  /// An attribute that the target has.
  void set_from_target(int64_t Description::* member, const ir::Target& target, const std::string& name) {
    if (target->attrs.get(name)) set(member, target->attrs.get_int(name, 0), "-" + name);
  }

 private:
  template <class Field, class Member>
  void remember(const Field& field, Member member, const std::string& source) {
    if constexpr (std::is_same_v<decltype(field.member), Member>) {
      if (field.member == member) known.sources.insert_or_assign(std::string(field.name), source);
    }
  }
};

}  // namespace tilewright::target
