#include "plan/threads/thread_plan_json.h"

#include <climits>

#include "base/json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

Json StepJson(const Step& step) {
  Json j{{"node", NameJson(step.node)},
         {"threads", step.threads},
         {"policy", step.policy},
         {"reason", step.reason}};
  if (!step.precision.empty()) j["precision"] = step.precision;
  if (step.predicted_us > 0) {
    j["predicted_us"] = step.predicted_us;
    j["blocks"] = step.blocks;
  }
  for (const Rejected& r : step.rejected)
    j["rejected"].push_back({{"choice", r.choice}, {"predicted_us", r.predicted_us}, {"reason", r.reason}});
  return j;
}

int Int(const Json& j, const char* what) { return int(WholeNumber(j, "plan", what, INT_MIN, INT_MAX)); }

Step StepFromJson(const Json& j) {
  Step step;
  step.node = NameFromJson(j.at("node"));
  step.threads = Int(j.at("threads"), "threads");
  step.policy = j.at("policy").get<std::string>();
  step.precision = j.value("precision", "");
  step.reason = j.value("reason", "");
  step.predicted_us = j.value("predicted_us", 0.0);
  if (j.contains("blocks"))
    for (const Json& n : List(j["blocks"], "plan", "blocks"))
      step.blocks.push_back(WholeNumber(n, "plan", "blocks"));
  if (!j.contains("rejected")) return step;
  for (const Json& r : List(j["rejected"], "plan", "rejected"))
    step.rejected.push_back({r.at("choice").get<std::string>(), r.at("predicted_us").get<double>(),
                             r.at("reason").get<std::string>()});
  return step;
}

}  // namespace

Json NameJson(const std::string& name) {
  try {
    static_cast<void>(Json(name).dump());
    return name;
  } catch (const Json::exception&) {
    return Json{{"bytes", std::vector<uint8_t>(name.begin(), name.end())}};
  }
}

std::string NameFromJson(const Json& j) {
  if (j.is_string()) return j.get<std::string>();
  const auto bytes = j.at("bytes").get<std::vector<uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

Json ThreadPlanJson(const ThreadPlan& plan) {
  Json j{{"machine", NameJson(plan.machine)},
         {"threads", plan.threads},
         {"cores", plan.cores},
         {"speeds", plan.speeds},
         {"steps", Json::array()}};
  for (const Step& s : plan.steps) j["steps"].push_back(StepJson(s));
  return j;
}

ThreadPlan ThreadPlanFromJson(const Json& j) {
  ThreadPlan plan;
  plan.machine = NameFromJson(j.at("machine"));
  plan.threads = Int(j.at("threads"), "threads");
  for (const Json& core : List(j.at("cores"), "plan", "cores")) plan.cores.push_back(Int(core, "a core"));
  plan.speeds = j.value("speeds", std::vector<double>());
  for (const Json& s : List(j.at("steps"), "plan", "steps")) plan.steps.push_back(StepFromJson(s));
  return plan;
}

}  // namespace mete
