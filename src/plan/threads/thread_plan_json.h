// A ThreadPlan as the part of a plan's JSON that it is (plan/plan.h).
#pragma once

#include <nlohmann/json.hpp>

#include "plan/threads/thread_plan.h"

namespace mete {

// Names come from files and may not be UTF-8, which JSON is: such a name is written as {"bytes": [...]}.
nlohmann::ordered_json NameJson(const std::string& name);
std::string NameFromJson(const nlohmann::ordered_json& json);

nlohmann::ordered_json ThreadPlanJson(const ThreadPlan& plan);
// Error with the place where the JSON is not one of a plan, or an exception of nlohmann::json, whose message
// the caller tells.
ThreadPlan ThreadPlanFromJson(const nlohmann::ordered_json& json);

}  // namespace mete
