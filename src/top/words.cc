#include "top/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace mete::top {
namespace {

struct Character {
  char32_t code = 0;
  size_t bytes = 0;  // 0: the text does not go on in UTF-8
};

Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  char32_t code = first & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[bytes] || code > 0x10ffff || is_surrogate ? Character{} : Character{code, bytes};
}

struct Range {
  char32_t first, last;
};
bool IsIn(char32_t code, std::initializer_list<Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// Control characters, and what has no width of its own or turns text round: combining marks (Unicode's blocks
// of them), joiners, marks and isolates of direction, variation selectors, tags, and the byte order mark.
bool IsObeyed(char32_t code) {
  return code < ' ' || IsIn(code, {{0x7f, 0x9f},
                                   {0xad, 0xad},
                                   {0x300, 0x36f},
                                   {0x483, 0x489},
                                   {0x591, 0x5c7},
                                   {0x610, 0x61c},
                                   {0x64b, 0x65f},
                                   {0x1ab0, 0x1aff},
                                   {0x1dc0, 0x1dff},
                                   {0x200b, 0x200f},
                                   {0x2028, 0x202e},
                                   {0x2060, 0x206f},
                                   {0x20d0, 0x20ff},
                                   {0xfe00, 0xfe0f},
                                   {0xfe20, 0xfe2f},
                                   {0xfeff, 0xfeff},
                                   {0xfff0, 0xfffb},
                                   {0xe0000, 0xe0fff}});
}

// Blocks whose characters Unicode's EastAsianWidth.txt calls wide.
bool IsWide(char32_t code) {
  return IsIn(code, {{0x1100, 0x115f},
                     {0x2e80, 0x303e},
                     {0x3041, 0xa4cf},
                     {0xac00, 0xd7a3},
                     {0xf900, 0xfaff},
                     {0xfe30, 0xfe6f},
                     {0xff00, 0xff60},
                     {0xffe0, 0xffe6},
                     {0x1f300, 0x1f64f},
                     {0x1f680, 0x1f6ff},
                     {0x1f900, 0x1f9ff},
                     {0x20000, 0x3fffd}});
}

constexpr const char* kUnknown = "-";

std::string Counted(double count, const char* one, const char* many) {
  return fmt::format("{} {}", CountText(count), count == 1 ? one : many);
}

std::string RequestsFact(const View& view) {
  std::optional<double> per_s, failed_per_s;
  double failed = 0;
  for (const ModelRow& row : view.models) {
    if (row.requests_per_s) per_s = per_s.value_or(0) + *row.requests_per_s;
    if (row.failed_per_s) failed_per_s = failed_per_s.value_or(0) + *row.failed_per_s;
    failed += row.failed.value_or(0);
  }
  return fmt::format("{} a second; {} a second failed, {} in all", RateText(per_s), RateText(failed_per_s),
                     CountText(failed));
}

std::string QueueFact(const View& view) {
  std::string text = fmt::format("{} waiting", CountText(view.waiting));
  if (view.under_way) text += fmt::format(", {} being computed", CountText(view.under_way));
  if (view.predicted_wait_s) text += fmt::format(", {} for a new one", SecondsText(view.predicted_wait_s));
  return text;
}

std::string MemoryFact(const View& view) {
  std::string text = fmt::format("{} now", BytesText(view.resident_bytes));
  if (view.peak_bytes) text += fmt::format(", {} at most", BytesText(view.peak_bytes));
  for (const MemoryPart& part : view.memory) {
    text += fmt::format(", {} {}", part.name, BytesText(part.bytes));
    if (part.most_bytes) text += fmt::format(" of {}", BytesText(part.most_bytes));
  }
  return text;
}

std::string PlansFact(const View& view) {
  std::optional<double> plans, retries, losses;
  for (const ModelRow& row : view.models)
    for (const auto& [sum, value] :
         {std::pair{&plans, row.plans}, {&retries, row.retries}, {&losses, row.losses}})
      if (value) *sum = sum->value_or(0) + *value;
  if (!plans && !retries && !losses) return "";
  return fmt::format("{} so far, {} computed again, {} lost", Counted(plans.value_or(0), "plan", "plans"),
                     Counted(retries.value_or(0), "request", "requests"),
                     Counted(losses.value_or(0), "processor", "processors"));
}

std::string DriftFact(const View& view) {
  if (view.models.size() != 1 || !view.models[0].drift()) return "";  // several have a column
  const ModelRow& row = view.models[0];
  return fmt::format("{} predicted, {} measured: {}", SecondsText(row.predicted_s),
                     SecondsText(row.measured_s), DriftText(row.drift()));
}

}  // namespace

std::string CleanText(std::string_view text, bool ascii) {
  std::string clean;
  while (!text.empty()) {
    const Character character = Decode(text);
    const bool is_kept =
        character.bytes > 0 && !IsObeyed(character.code) && (!ascii || character.code < 0x80);
    if (is_kept) clean += text.substr(0, character.bytes);
    else clean += '?';
    text.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return clean;
}

int ColumnsOf(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character character = Decode(text);
    columns += IsWide(character.code) ? 2 : 1;
    text.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return columns;
}

std::string CutText(const std::string& text, int columns, bool ascii) {
  if (ColumnsOf(text) <= columns) return text;
  const std::string_view ellipsis = ascii ? "~" : "…";
  std::string cut;
  int left = columns - 1;
  for (std::string_view rest = text; left >= 0;) {
    const size_t bytes = std::max<size_t>(Decode(rest).bytes, 1);
    const std::string_view character = rest.substr(0, bytes);
    left -= ColumnsOf(character);
    if (left < 0) break;
    cut += character;
    rest.remove_prefix(bytes);
  }
  return columns > 0 ? cut.append(ellipsis) : "";
}

std::string RateText(std::optional<double> per_s) {
  if (!per_s) return kUnknown;
  if (*per_s >= 1000) return CountText(per_s);
  return fmt::format("{:.{}f}", *per_s, *per_s < 100 ? 1 : 0);
}

std::string CountText(std::optional<double> count) {
  if (!count) return kUnknown;
  if (*count < 1e4) return fmt::format("{:.0f}", *count);
  for (const auto& [unit, name] : {std::pair{1e3, "k"}, {1e6, "M"}, {1e9, "G"}})
    if (*count < unit * 1e3) return fmt::format("{:.1f}{}", *count / unit, name);
  return fmt::format("{:.1e}", *count);
}

std::string SecondsText(std::optional<double> s) { return s ? FormatMs(*s * 1e3) : kUnknown; }

std::string QuantileText(const std::optional<Quantile>& quantile) {
  return quantile ? (quantile->is_more ? "> " : "") + SecondsText(quantile->s) : kUnknown;
}

std::string PercentText(std::optional<double> part) {
  return part ? fmt::format("{:.0f} %", 100 * *part) : kUnknown;
}

std::string DriftText(std::optional<double> drift) {
  return drift ? fmt::format("{:+.0f} %", 100 * *drift) : kUnknown;
}

std::string BytesText(std::optional<double> bytes) {
  // more has no machine
  return bytes && *bytes < 1e18 ? FormatBytes(int64_t(*bytes)) : kUnknown;
}

std::string SpanText(double seconds) {
  const auto s = int64_t(std::clamp(seconds, 0.0, 1e12));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {:02} h", s / 86400, s / 3600 % 24);
}

std::vector<Fact> FactsOf(const View& view) {
  std::vector<Fact> facts{{"requests", RequestsFact(view)}};
  if (view.waiting) facts.push_back({"queue", QueueFact(view)});
  if (view.callers)
    facts.push_back(
        {"callers", fmt::format("{} of {} at most", Counted(view.callers->now, "deployment", "deployments"),
                                CountText(view.callers->most))});
  facts.push_back({"memory", MemoryFact(view)});
  if (view.cpu_cores) facts.push_back({"CPU", fmt::format("{:.2f} cores busy", *view.cpu_cores)});
  if (std::string text = DriftFact(view); !text.empty()) facts.push_back({"drift", std::move(text)});
  if (!view.plan.empty()) facts.push_back({"plan", view.plan});
  if (std::string text = PlansFact(view); !text.empty()) facts.push_back({"plans", std::move(text)});
  return facts;
}

}  // namespace mete::top
