#include "tilewright/schedule/default/reason.h"

#include "tilewright/support/units.h"

namespace tilewright::schedule {

std::string_view name_of(Reason::Kind kind) {
  switch (kind) {
    case Reason::kOther: return "other";
    case Reason::kForm: return "form";
    case Reason::kOpenExtent: return "open_extent";
    case Reason::kTooSmall: return "too_small";
    case Reason::kCost: return "cost";
    case Reason::kRefused: return "refused";
  }
  return "";
}

std::string share_text(int64_t used, int64_t whole) {
  return fmt::format("{} of {} places ({})", used, whole,
                     percent_text(static_cast<double>(used) / static_cast<double>(whole)));
}

}  // namespace tilewright::schedule
