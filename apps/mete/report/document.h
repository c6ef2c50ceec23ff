// A report as values, and the page that shows them. The page is one HTML file that loads nothing: its script
// draws the sections of which the report has values.
#pragma once

#include <string>
#include <vector>

#include "context.h"
#include "terminal.h"

namespace mete::cli {

// Times are microseconds. A section whose value is null or empty is left out.
struct Report {
  std::string title;              // "resnet50.onnx"
  std::string about;              // "2 threads on AMD EPYC, avx512"
  std::vector<std::string> says;  // whole sentences, the most important one first
  Rows facts;                     // a name and a value each

  Json timelines = Json::array();  // of TimelineOf() (timeline.h)
  // In the order in which they run: as "steps" of `mete bench --explain --json`, with predicted_us, reason
  // and rejected of the plan, if it has them
  Json nodes = Json::array();
  Json limits = nullptr;  // {"gflops", "read_gbytes", "threads"}
  Json arena = nullptr;   // {"bytes", "steps": [name], "values": [[name, offset, bytes, first step, last]]}
  Json plan = nullptr;    // of PlanSection() (plan_section.h)
  Json compared = Json::array();  // {"what", "predicted_us", "measured_us"}
  Json choices = Json::array();   // {"name", "us", "chosen", "why"}: what was weighed
  Json energy = Json::array();    // {"name", "us", "joules", "chosen"}
};

// Returns the page. Bytes of names that are no UTF-8 are replaced.
std::string PageOf(const Report& report);

}  // namespace mete::cli
