#include "base/timeline.h"

#include "base/json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

// Adds the events that give a process or a lane its name and its position in the viewer.
void AddName(Json& events, const std::string& kind, const Json& place, const std::string& name, int index) {
  for (const auto& [what, key, value] :
       {std::tuple{"_name", "name", Json(name)}, {"_sort_index", "sort_index", Json(index)}}) {
    Json event{{"name", kind + what}, {"ph", "M"}};
    event.update(place);
    event["args"] = Json{{key, value}};
    events.push_back(std::move(event));
  }
}

}  // namespace

int Timeline::AddProcess(const std::string& name) {
  processes_.push_back({name});
  return int(processes_.size());
}

Timeline::Lane Timeline::AddLane(int process, const std::string& name) {
  lanes_.push_back({process, name});
  return Lane(lanes_.size());
}

void Timeline::AddSlice(Lane lane, const std::string& name, const char* category, double begin_us,
                        double end_us, std::vector<Argument> arguments) {
  slices_.push_back({lane, name, category, begin_us, end_us, std::move(arguments)});
}

void Timeline::AddArrow(const char* name, Lane from, double from_us, Lane to, double to_us) {
  arrows_.push_back({name, from, to, from_us, to_us});
}

void Timeline::AddCounter(int process, const std::string& name, const std::string& unit, double us,
                          double value) {
  counters_.push_back({process, name, unit, us, value});
}

std::string Timeline::ToJson() const {
  Json events = Json::array();
  for (int p = 1; p <= int(processes_.size()); ++p)
    AddName(events, "process", {{"pid", p}}, processes_[size_t(p) - 1].name, p);
  for (Lane l = 1; l <= Lane(lanes_.size()); ++l)
    AddName(events, "thread", {{"pid", ProcessOf(l)}, {"tid", l}}, lanes_[size_t(l) - 1].name, l);
  for (const Slice& s : slices_) {
    Json arguments = Json::object();
    for (const Argument& a : s.arguments)
      std::visit([&](const auto& value) { arguments[a.name] = value; }, a.value);
    events.push_back({{"name", s.name},
                      {"cat", s.category},
                      {"ph", "X"},
                      {"pid", ProcessOf(s.lane)},
                      {"tid", s.lane},
                      {"ts", s.begin_us},
                      {"dur", s.end_us - s.begin_us},
                      {"args", std::move(arguments)}});
  }
  for (size_t id = 1; id <= arrows_.size(); ++id) {
    const Arrow& a = arrows_[id - 1];
    const Json head{{"name", a.name}, {"cat", "arrow"}, {"id", id}};
    Json from = head, to = head;
    from.update(Json{{"ph", "s"}, {"pid", ProcessOf(a.from)}, {"tid", a.from}, {"ts", a.from_us}});
    to.update(Json{{"ph", "f"}, {"bp", "e"}, {"pid", ProcessOf(a.to)}, {"tid", a.to}, {"ts", a.to_us}});
    events.push_back(std::move(from));
    events.push_back(std::move(to));
  }
  for (const Counter& c : counters_)
    events.push_back({{"name", c.name},
                      {"cat", "sum"},
                      {"ph", "C"},
                      {"pid", c.process},
                      {"ts", c.us},
                      {"args", {{c.unit, c.value}}}});
  return JsonText({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}, 1);
}

}  // namespace mete
