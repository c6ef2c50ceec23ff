#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace mete::cli {
namespace {

// Hundredths of a microsecond are enough: a clock is read in a few of them.
double Rounded(double us) { return std::round(us * 100) / 100; }

// Numbers the different values in the order in which they come.
template <class T>
class Numbered {
 public:
  int Of(const T& value) {
    const auto [at, is_new] = numbers_.try_emplace(value, int(values_.size()));
    if (is_new) values_.push_back(value);
    return at->second;
  }
  const std::vector<T>& values() const { return values_; }

 private:
  std::map<T, int> numbers_;
  std::vector<T> values_;
};

struct Slice {
  int lane, name, kind;
  double begin, duration;
};

using LaneKey = std::pair<int64_t, int64_t>;                             // process and thread
using NameKey = std::tuple<std::string, std::string, int64_t, int64_t>;  // name, operator, flops, bytes

class TraceReader {
 public:
  void Read(const Json& event) {
    const std::string phase = event.value("ph", "");
    if (phase == "M") ReadName(event);
    else if (phase == "X") ReadSlice(event);
    else if (phase == "s") from_[event.at("id").dump()] = {LaneOf(event), Time(event, "ts")};
    else if (phase == "f") ReadEnd(event);
  }

  Json Answer(const TimelineTitle& title) {
    std::sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.lane, a.begin, b.duration) < std::tie(b.lane, b.begin, a.duration);
    });
    Json json{{"title", title.title},     {"about", title.about},
              {"kind", title.kind},       {"total_us", 0},
              {"lanes", Json::array()},   {"names", Json::array()},
              {"kinds", kinds_.values()}, {"slices", Json::array()},
              {"arrows", arrows_}};
    double total = 0;
    for (const LaneKey& key : lanes_.values())
      json["lanes"].push_back({{"group", processes_[key.first]}, {"name", threads_[key]}});
    for (const auto& [name, op, flops, bytes] : names_.values())
      json["names"].push_back({name, op, flops, bytes});
    for (const Slice& s : slices_) {
      json["slices"].push_back({s.lane, s.name, s.kind, s.begin, s.duration});
      total = std::max(total, s.begin + s.duration);
    }
    json["total_us"] = Rounded(total);
    return json;
  }

  bool empty() const { return slices_.empty(); }

 private:
  static double Time(const Json& event, const char* key) {
    const double us = event.at(key).get<double>();
    if (!std::isfinite(us) || us < 0)
      throw Json::other_error::create(0, "a time is negative or not finite", &event);
    return us;
  }

  // Lanes have the numbers of their first mention, which is their name's in traces of Mete.
  int LaneOf(const Json& event) {
    return lanes_.Of({event.at("pid").get<int64_t>(), event.at("tid").get<int64_t>()});
  }

  void ReadName(const Json& event) {
    const std::string what = event.value("name", "");
    if (what != "process_name" && what != "thread_name") return;
    const std::string name = event.at("args").at("name").get<std::string>();
    if (what == "process_name") {
      processes_[event.at("pid").get<int64_t>()] = name;
    } else {
      (void)LaneOf(event);
      threads_[{event.at("pid").get<int64_t>(), event.at("tid").get<int64_t>()}] = name;
    }
  }

  void ReadSlice(const Json& event) {
    const Json args = event.value("args", Json::object());
    const NameKey name{event.at("name").get<std::string>(), args.value("op", ""),
                       args.value("flops", int64_t(0)), args.value("bytes", int64_t(0))};
    slices_.push_back({LaneOf(event), names_.Of(name), kinds_.Of(event.value("cat", "node")),
                       Rounded(Time(event, "ts")), Rounded(Time(event, "dur"))});
  }

  void ReadEnd(const Json& event) {
    const auto from = from_.find(event.at("id").dump());
    if (from == from_.end()) return;
    arrows_.push_back(
        {from->second.first, Rounded(from->second.second), LaneOf(event), Rounded(Time(event, "ts"))});
  }

  Numbered<LaneKey> lanes_;
  Numbered<NameKey> names_;
  Numbered<std::string> kinds_;
  std::map<int64_t, std::string> processes_;
  std::map<LaneKey, std::string> threads_;
  std::map<std::string, std::pair<int, double>> from_;  // by the arrow's id
  std::vector<Slice> slices_;
  Json arrows_ = Json::array();
};

}  // namespace

Json TimelineOf(const TimelineTitle& title, const Json& trace, const std::string& where) {
  TraceReader reader;
  try {
    for (const Json& event : trace.at("traceEvents")) reader.Read(event);
  } catch (const Json::exception& e) {
    Invalid(where, "is no trace that can be read; got {}, expected the JSON of --trace", e.what());
  }
  if (reader.empty())
    Invalid(where, "the trace has no times; got no event of phase X, expected the JSON of --trace");
  return reader.Answer(title);
}

}  // namespace mete::cli
