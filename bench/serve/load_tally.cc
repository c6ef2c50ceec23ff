#include "load_tally.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace mete::load {
namespace {

bool IsName(std::string_view name, std::string_view expected) {
  return name.size() == expected.size() && strncasecmp(name.data(), expected.data(), name.size()) == 0;
}

double ComputeOf(std::string_view timing) {
  constexpr std::string_view kCompute = "compute;dur=";
  const size_t at = timing.find(kCompute);
  return at == timing.npos ? 0 : std::atof(std::string(timing.substr(at + kCompute.size())).c_str());
}

// {"count": ..., "p50": ...} of times in milliseconds; sorts them.
std::string Quantiles(std::vector<float>& times) {
  if (times.empty()) return R"({"count": 0})";
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[size_t(share * double(times.size() - 1) + 0.5)]; };
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / double(times.size());
  return fmt::format(
      R"({{"count": {}, "mean": {:.4f}, "p50": {:.4f}, "p90": {:.4f}, "p99": {:.4f}, "p999": {:.4f}, "max": {:.4f}}})",
      times.size(), mean, at(0.5), at(0.9), at(0.99), at(0.999), times.back());
}

float Ms(Nanoseconds time) { return float(double(time) * 1e-6); }

}  // namespace

bool ReadHead(const std::string& head, AnswerHead& read) {
  read = {};
  std::string_view rest(head);
  if (!rest.starts_with("HTTP/1.1 ") || rest.size() < 12) return false;
  read.status = std::atoi(head.c_str() + 9);
  bool has_length = false;
  while (true) {
    const size_t end = rest.find("\r\n");
    if (end == rest.npos) return has_length;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    const size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string value(line.substr(colon + 2));
    if (IsName(name, "Content-Length")) {
      read.body_bytes = std::strtoull(value.c_str(), nullptr, 10);
      has_length = true;
    }
    if (IsName(name, "Inference-Header-Content-Length"))
      read.json_bytes = std::strtoull(value.c_str(), nullptr, 10);
    if (IsName(name, "Connection")) read.closes = IsName(value, "close");
    if (IsName(name, "Server-Timing")) read.compute_ms = ComputeOf(value);
  }
}

void Tally::Add(const AnswerHead& head, const std::string& body, Nanoseconds due, Nanoseconds begun,
                Nanoseconds now) {
  ++statuses_[head.status];
  late_.push_back(Ms(begun - due));
  if (head.status != 200) {
    refused_.push_back(Ms(now - due));
    return;
  }
  answered_.push_back(Ms(now - due));
  beside_compute_.push_back(float(double(now - begun) * 1e-6 - head.compute_ms));
  const std::string elements = body.substr(std::min(head.json_bytes, body.size()));
  if (!has_right_) right_ = elements;
  has_right_ = true;
  wrong_ += elements != right_;
}

std::string Tally::Json(double seconds, double wanted_rate) {
  std::string statuses;
  for (const auto& [status, count] : statuses_)
    statuses += fmt::format(R"({}"{}": {})", statuses.empty() ? "" : ", ", status, count);
  return fmt::format(
      "{{\"seconds\": {:.3f}, \"wanted_rate\": {:.3f}, \"sent\": {}, \"closed\": {}, \"unanswered\": {}, "
      "\"wrong\": {},\n \"statuses\": {{{}}},\n \"answered_ms\": {},\n \"refused_ms\": {},\n "
      "\"late_ms\": {},\n \"beside_compute_ms\": {}}}\n",
      seconds, wanted_rate, sent, closed, unanswered, wrong_, statuses, Quantiles(answered_),
      Quantiles(refused_), Quantiles(late_), Quantiles(beside_compute_));
}

}  // namespace mete::load
