// A timeline in the JSON of Chrome's trace viewer, which Perfetto also reads: processes with lanes, slices in
// lanes, arrows between slices. The format is the "Trace Event Format" of the Chromium project. Its viewers
// need a name for every lane, numbers of processes and lanes above 0, and slices of a lane that are nested or
// do not overlap.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mete {

class Timeline {
 public:
  using Lane = int;  // above 0
  struct Argument {
    const char* name;
    std::variant<int64_t, std::string> value;
  };

  int AddProcess(const std::string& name);
  Lane AddLane(int process, const std::string& name);  // shown in the order in which they are added

  // Times are microseconds since the timeline's start.
  void AddSlice(Lane lane, const std::string& name, const char* category, double begin_us, double end_us,
                std::vector<Argument> arguments);
  // Adds an arrow from a slice of one lane to a slice of another lane that had to wait for it. Each time must
  // lie inside its slice.
  void AddArrow(const char* name, Lane from, double from_us, Lane to, double to_us);
  // Adds a number that viewers show beside the lanes of a process, from `us` on.
  void AddCounter(int process, const std::string& name, const std::string& unit, double us, double value);

  std::string ToJson() const;

 private:
  struct Process {
    std::string name;
  };
  struct LaneOf {
    int process;
    std::string name;
  };
  struct Slice {
    Lane lane;
    std::string name;
    const char* category;
    double begin_us, end_us;
    std::vector<Argument> arguments;
  };
  struct Arrow {
    const char* name;
    Lane from, to;
    double from_us, to_us;
  };
  struct Counter {
    int process;
    std::string name, unit;
    double us, value;
  };

  int ProcessOf(Lane lane) const { return lanes_[size_t(lane) - 1].process; }

  std::vector<Process> processes_;
  std::vector<LaneOf> lanes_;
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
  std::vector<Counter> counters_;
};

}  // namespace mete
