// Explanations as one page: no scripts, no files besides.
#include <algorithm>
#include <cmath>

#include "tilewright/explain/explain.h"
#include "tilewright/support/format.h"
#include "tilewright/support/units.h"

namespace tilewright::explain {
namespace {

constexpr double kWidth = 800, kHeight = 360, kMargin = 48;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; }
svg text { font-size: 12px; fill: currentColor; }
svg line, svg path { stroke: currentColor; fill: none; }
.grid { opacity: .15; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15rem .6rem; text-align: right; }
td:first-child, th:first-child { text-align: left; }
tr:nth-child(even) { background: color-mix(in srgb, currentColor 6%, transparent); }
pre { overflow-x: auto; }
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += letter;
    }
  }
  return result;
}

// Colours that differ for neighbours: steps of the golden angle.
std::string color_of(size_t kernel) {
  return fmt::format("hsl({:.0f} 60% 50%)", std::fmod(kernel * 137.5, 360.0));
}

/// Logarithmic axes of the roofline plot.
struct Axes {
  double least_x, most_x, least_y, most_y;  // FLOP a byte, FLOP/s
  double x(double value) const {
    return kMargin + (kWidth - 2 * kMargin) * std::log(value / least_x) / std::log(most_x / least_x);
  }
  double y(double value) const {
    return kHeight - kMargin -
           (kHeight - 2 * kMargin) * std::log(value / least_y) / std::log(most_y / least_y);
  }
};

bool is_in_plot(const KernelReport& kernel) {
  return !kernel.limit.empty() && *kernel.time.flops > 0 && kernel.time.seconds > 0;
}

// The peak of what the kernels use.
double highest(const Explanation& explanation) {
  double speed = explanation.peaks.flops_per_s;
  for (const KernelReport& kernel : explanation.kernels)
    speed = std::max(speed, explanation.peaks.of(kernel.arithmetic));
  return speed;
}

Axes axes_of(const Explanation& explanation) {
  const Peaks& peaks = explanation.peaks;
  Axes axes{1.0 / 16, 64, peaks.flops_per_s / 64, highest(explanation) * 2};
  for (const KernelReport& kernel : explanation.kernels) {
    if (!is_in_plot(kernel)) continue;
    const double intensity = *kernel.time.flops / kernel.time.bytes,
                 speed = *kernel.time.flops / kernel.time.seconds;
    axes.least_x = std::min(axes.least_x, intensity / 2);
    axes.most_x = std::max(axes.most_x, intensity * 2);
    axes.least_y = std::min(axes.least_y, speed / 2);
  }
  return axes;
}

std::string grid(const Axes& axes) {
  std::string text;
  for (double x = std::exp2(std::ceil(std::log2(axes.least_x))); x <= axes.most_x; x *= 4)
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" "
        "y=\"{3}\" "
        "text-anchor=\"middle\">{4:g}</text>\n",
        axes.x(x), kMargin, kHeight - kMargin, kHeight - kMargin + 16, x);
  for (double y = std::pow(10, std::ceil(std::log10(axes.least_y))); y <= axes.most_y; y *= 10)
    text += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/><text x=\"{3}\" "
        "y=\"{0:.1f}\" "
        "text-anchor=\"end\">{4:g}</text>\n",
        axes.y(y), kMargin, kWidth - kMargin, kMargin - 4, y * 1e-9);
  return text +
         fmt::format(
             "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">FLOP a byte</text><text x=\"4\" y=\"{}\">GFLOP/s"
             "</text>\n",
             kWidth / 2, kHeight - 8, kMargin - 16);
}

// The ceiling of one memory level: bandwidth up to the peak, and the peak.
std::string roof(const Axes& axes, const MemoryLevel& level, double flops_per_s) {
  const double ridge = flops_per_s / level.bytes_per_s;
  const double begin = std::max(axes.least_x, axes.least_y / level.bytes_per_s);
  if (begin >= axes.most_x) return "";
  const double corner = std::clamp(ridge, begin, axes.most_x);
  const double low = std::min(begin * level.bytes_per_s, flops_per_s),
               high = std::min(corner * level.bytes_per_s, flops_per_s);
  return fmt::format(
      "<path d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} L{:.1f} {:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{} {:.1f} "
      "GB/s</text>\n",
      axes.x(begin), axes.y(low), axes.x(corner), axes.y(high), axes.x(axes.most_x), axes.y(high),
      axes.x(begin) + 4, axes.y(low) - 4, level.name, level.bytes_per_s * 1e-9);
}

std::string roofline(const Explanation& explanation) {
  const Axes axes = axes_of(explanation);
  std::string text =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"roofline\">\n", kWidth, kHeight) +
      grid(axes);
  for (const MemoryLevel& level : explanation.peaks.levels) text += roof(axes, level, highest(explanation));
  for (size_t n = explanation.kernels.size(); n-- > 0;) {
    const KernelReport& kernel = explanation.kernels[n];
    if (!is_in_plot(kernel)) continue;
    const KernelTime& time = kernel.time;
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" fill-opacity=\".7\"><title>{}: {}, "
        "{:.1f} GFLOP/s, "
        "{} of {}</title></circle>\n",
        axes.x(*time.flops / time.bytes), axes.y(*time.flops / time.seconds),
        3 + 20 * std::sqrt(kernel.share), color_of(n), escaped(time.name), seconds_text(time.seconds),
        *time.flops / time.seconds * 1e-9, percent_text(kernel.efficiency()), kernel.limit);
  }
  return text + "</svg>\n";
}

std::string time_line(const Explanation& explanation) {
  double end = 1e-9;
  for (const Step& step : explanation.steps) end = std::max(end, step.begin + step.seconds);
  std::string text =
      fmt::format("<svg viewBox=\"0 0 {} 64\" role=\"img\" aria-label=\"time line\">\n", kWidth);
  for (const Step& step : explanation.steps)
    text += fmt::format(
        "<rect x=\"{:.2f}\" y=\"4\" width=\"{:.2f}\" height=\"36\" fill=\"{}\"><title>{}: {} from "
        "{}</title></rect>\n",
        step.begin / end * kWidth, std::max(0.5, step.seconds / end * kWidth), color_of(step.kernel),
        escaped(explanation.kernels[step.kernel].time.name), seconds_text(step.seconds),
        seconds_text(step.begin));
  return text +
         fmt::format(
             "<text x=\"0\" y=\"58\">0</text><text x=\"{}\" y=\"58\" text-anchor=\"end\">{}</text></svg>\n",
             kWidth, seconds_text(end));
}

std::string row(const KernelReport& kernel, size_t place) {
  const KernelTime& time = kernel.time;
  const auto speed = [&](double count) {
    return fmt::format("{:.1f}", count / std::max(time.seconds, 1e-12) * 1e-9);
  };
  const bool is_known = !kernel.limit.empty();
  return fmt::format(
      "<tr><td><span style=\"color:{}\">&#9632;</span> <a "
      "href=\"#k{}\">{}</a></td><td>{}</td><td>{}</td><td>{:.1f} %</td>"
      "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      color_of(place), place, escaped(time.name), time.num_calls, seconds_text(time.seconds),
      kernel.share * 100, time.flops ? speed(*time.flops) : "-", time.bytes > 0 ? speed(time.bytes) : "-",
      kernel.vector_use ? percent_text(*kernel.vector_use) : "-",
      is_known ? percent_text(kernel.efficiency()) : "-", is_known ? kernel.limit : "-");
}

std::string details(const KernelReport& kernel, size_t place) {
  std::string rules;
  for (size_t n = 0; n < kernel.plans.size(); ++n)
    rules +=
        fmt::format("<li>plan {}{}</li>\n", escaped(kernel.plans[n]), n == kernel.plan ? ", which ran" : "");
  for (const schedule::Attempt& attempt : kernel.attempts) {
    if (!attempt.concerns_block()) continue;
    if (attempt.rule == schedule::kAnyRule) {
      rules += fmt::format("<li>none: {}</li>\n", escaped(attempt.reason->text));
      continue;
    }
    rules += fmt::format("<li>{}{} on block {}{}</li>\n", attempt.is_applied() ? "" : "not ",
                         escaped(attempt.rule), escaped(attempt.block),
                         attempt.is_applied() ? "" : ": " + escaped(attempt.reason->text));
  }
  const std::string gain =
      kernel.gain_seconds > 0 ? fmt::format("; that may save {}", seconds_text(kernel.gain_seconds)) : "";
  return fmt::format(
      "<h3 id=\"k{}\">{}</h3>\n<p>Next: {}{}.</p>\n<ul>\n{}</ul>\n<details><summary>its "
      "schedule</summary><pre>{}</pre>"
      "</details>\n",
      place, escaped(kernel.time.name), escaped(kernel.next), gain, rules, escaped(kernel.trace));
}

}  // namespace

std::string to_html(const Explanation& explanation) {
  const std::string title = escaped(explanation.model);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style></head><body>\n"
      "<h1>{0}</h1>\n<p>{2} a call; the machine's peak with {3} threads is {4:.1f} GFLOP/s.</p>\n",
      title, kStyle, seconds_text(explanation.seconds), explanation.peaks.num_threads,
      explanation.peaks.flops_per_s * 1e-9);
  text +=
      "<h2>Roofline</h2>\n" + roofline(explanation) + "<h2>One call</h2>\n" + time_line(explanation) +
      "<h2>Kernels</h2>\n<table><tr><th>kernel</th><th>calls</th><th>time</th><th>share</th><th>GFLOP/s</th>"
      "<th>GB/s</th><th>lanes</th><th>of limit</th><th>limit</th></tr>\n";
  for (size_t n = 0; n < explanation.kernels.size(); ++n) text += row(explanation.kernels[n], n);
  text += "</table>\n";
  for (size_t n = 0; n < explanation.kernels.size(); ++n) text += details(explanation.kernels[n], n);
  return text + "</body></html>\n";
}

}  // namespace tilewright::explain
