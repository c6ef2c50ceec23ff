#include "base/timeline.h"

namespace mete {

int Timeline::AddProcess(const std::string& name) {
  const int process = ++processes_;
  events_.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}});
  events_.push_back({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process}, {"args", {{"sort_index", process}}}});
  return process;
}

Timeline::Lane Timeline::AddLane(int process, const std::string& name) {
  processes_of_.push_back(process);
  const Lane lane = Lane(processes_of_.size());
  events_.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", process}, {"tid", lane}, {"args", {{"name", name}}}});
  events_.push_back({{"name", "thread_sort_index"}, {"ph", "M"}, {"pid", process}, {"tid", lane}, {"args", {{"sort_index", lane}}}});
  return lane;
}

void Timeline::AddSlice(Lane lane, const std::string& name, const char* category, double begin_us, double end_us, Json arguments) {
  events_.push_back({{"name", name}, {"cat", category}, {"ph", "X"}, {"pid", ProcessOf(lane)}, {"tid", lane}, {"ts", begin_us},
                     {"dur", end_us - begin_us}, {"args", std::move(arguments)}});
}

void Timeline::AddArrow(const char* name, Lane from, double from_us, Lane to, double to_us) {
  const int id = ++arrows_;
  events_.push_back({{"name", name}, {"cat", "arrow"}, {"ph", "s"}, {"id", id}, {"pid", ProcessOf(from)}, {"tid", from}, {"ts", from_us}});
  events_.push_back({{"name", name}, {"cat", "arrow"}, {"ph", "f"}, {"bp", "e"}, {"id", id}, {"pid", ProcessOf(to)}, {"tid", to},
                     {"ts", to_us}});
}

void Timeline::AddCounter(int process, const std::string& name, const std::string& unit, double value) {
  events_.push_back({{"name", name}, {"cat", "sum"}, {"ph", "C"}, {"pid", process}, {"ts", 0}, {"args", {{unit, value}}}});
}

std::string Timeline::ToJson() const {
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", events_}}.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mete
