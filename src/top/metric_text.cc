#include "top/metric_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/error.h"

namespace mete::top {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Reads the parts of a line, one after the other. Each function returns nothing, or false, where the line
// does not go on so.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  void SkipSpaces() {
    while (!at_end() && IsSpace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string Name() {
    const size_t begin = at_;
    if (IsLetter(next()))
      while (IsLetter(next()) || IsDigit(next())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // A text in quotes, in which \\, \" and \n stand for a backslash, a quote and a line's end.
  std::optional<std::string> Quoted() {
    if (!Take('"')) return {};
    std::string value;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"') return value;
      if (c == '\\' && at_end()) return {};
      value += c == '\\' ? Unescaped(text_[at_++]) : c;
    }
    return {};
  }

  std::optional<double> Number() {
    if (next() == '+') ++at_;
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (end == text_.data() + at_) return {};
    if (error == std::errc::result_out_of_range)
      value = std::numeric_limits<double>::quiet_NaN();  // of which no rate is made
    at_ = size_t(end - text_.data());
    return value;
  }

 private:
  static char Unescaped(char c) { return c == 'n' ? '\n' : c; }

  std::string_view text_;
  size_t at_ = 0;
};

// name="value", separated by commas, behind an opening brace and to the closing one.
bool ReadLabels(Line& line, MetricSample& sample) {
  for (line.SkipSpaces(); !line.Take('}'); line.SkipSpaces()) {
    std::string name = line.Name();
    line.SkipSpaces();
    if (name.empty() || !line.Take('=')) return false;
    line.SkipSpaces();
    std::optional<std::string> value = line.Quoted();
    if (!value) return false;
    sample.labels.emplace_back(std::move(name), std::move(*value));
    line.SkipSpaces();
    if (!line.Take(',') && line.next() != '}') return false;
  }
  return true;
}

std::optional<MetricSample> ReadSample(Line line) {
  MetricSample sample;
  sample.name = line.Name();
  if (sample.name.empty()) return {};
  line.SkipSpaces();
  if (line.Take('{') && !ReadLabels(line, sample)) return {};
  line.SkipSpaces();
  const std::optional<double> value = line.Number();
  if (!value) return {};
  sample.value = *value;
  line.SkipSpaces();
  if (!line.at_end() && !line.Number()) return {};  // the time of the sample
  line.SkipSpaces();
  if (!line.at_end()) return {};
  return sample;
}

}  // namespace

const std::string& MetricSample::Label(std::string_view label) const {
  static const std::string none;
  const auto found =
      std::find_if(labels.begin(), labels.end(), [&](const auto& pair) { return pair.first == label; });
  return found == labels.end() ? none : found->second;
}

std::vector<MetricSample> ReadMetrics(std::string_view text, const std::string& where) {
  constexpr size_t kShown = 60;  // guess: enough to recognize a line
  std::vector<MetricSample> samples;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view all = text.substr(begin, end - begin);
    begin = end + 1;
    Line line(all);
    line.SkipSpaces();
    if (line.at_end() || line.next() == '#') continue;
    std::optional<MetricSample> sample = ReadSample(line);
    if (!sample)
      Fail(Code::kDataLoss, where,
           "line {} of its metrics is no sample; got '{}', expected NAME{{LABEL=\"VALUE\"}} NUMBER; try the "
           "address of a mete serve",
           number, Printable(std::string(all.substr(0, kShown))));
    if (samples.size() == size_t(kMostMetricSamples))
      Fail(Code::kDataLoss, where,
           "tells too much; got more than {} samples; try the address of a mete serve", kMostMetricSamples);
    samples.push_back(std::move(*sample));
  }
  return samples;
}

}  // namespace mete::top
