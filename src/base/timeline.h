// A timeline in the JSON of Chrome's trace viewer, which Perfetto reads, too: processes with lanes, slices in lanes, arrows between slices.
// The format: "Trace Event Format" of the Chromium project. Its viewers want names for all lanes, numbers of processes and lanes above 0,
// and slices of a lane that lie inside of each other or do not touch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mete {

class Timeline {
 public:
  using Json = nlohmann::ordered_json;
  using Lane = int;  // above 0

  int AddProcess(const std::string& name);
  Lane AddLane(int process, const std::string& name);  // shown in the order in which they are added

  // Times are microseconds since the timeline's start.
  void AddSlice(Lane lane, const std::string& name, const char* category, double begin_us, double end_us, Json arguments);
  // From a slice of one lane to a slice of another that had to wait for it; each time lies inside of the slice that is meant.
  void AddArrow(const char* name, Lane from, double from_us, Lane to, double to_us);
  // A number beside the lanes of a process.
  void AddCounter(int process, const std::string& name, const std::string& unit, double value);

  std::string ToJson() const;

 private:
  int ProcessOf(Lane lane) const { return processes_of_[size_t(lane) - 1]; }

  Json events_ = Json::array();
  int processes_ = 0, arrows_ = 0;
  std::vector<int> processes_of_;  // of each lane
};

}  // namespace mete
