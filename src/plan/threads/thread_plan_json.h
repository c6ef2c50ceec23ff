// A ThreadPlan as the part of a plan's JSON that it is (plan/plan.h).
#pragma once

#include <nlohmann/json.hpp>

#include "plan/threads/thread_plan.h"

namespace mete {

// Return a name as JSON and back. A name comes from a file and may not be UTF-8, which JSON requires: such a
// name is written as {"bytes": [...]}.
nlohmann::ordered_json NameJson(const std::string& name);
std::string NameFromJson(const nlohmann::ordered_json& json);

nlohmann::ordered_json ThreadPlanJson(const ThreadPlan& plan);
// Returns the plan. Throws an Error with the place at which the JSON is not one of a plan, or an exception of
// nlohmann::json, whose message the caller reports.
ThreadPlan ThreadPlanFromJson(const nlohmann::ordered_json& json);

}  // namespace mete
