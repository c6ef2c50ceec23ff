#include "costs/starts.h"

#include <iterator>

#include "base/error.h"
#include "base/json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mete start costs 1";
constexpr size_t kMostBytes = 1 << 16;  // guess: some ten times what all states take
constexpr double kMostMs = 1e9;         // guess: eleven days
constexpr int kMostStarts = 1'000'000;  // guess

struct Step {
  const char* name;
  double StartSteps::*ms;
};
constexpr Step kSteps[] = {{"process_ms", &StartSteps::process_ms},
                           {"load_ms", &StartSteps::load_ms},
                           {"prepare_ms", &StartSteps::prepare_ms},
                           {"answer_ms", &StartSteps::answer_ms}};

struct Needed {
  const char* name;
  StartCost StartCosts::*cost;
};
constexpr Needed kNeeded[] = {{"resident", &StartCosts::resident}, {"killed", &StartCosts::killed}};

struct Optional {
  const char* name;
  std::optional<StartCost> StartCosts::*cost;
};
constexpr Optional kOptional[] = {{"evicted", &StartCosts::evicted},
                                  {"cold", &StartCosts::cold},
                                  {"first", &StartCosts::first},
                                  {"without_weights", &StartCosts::without_weights},
                                  {"without_timings", &StartCosts::without_timings},
                                  {"without_programs", &StartCosts::without_programs}};

bool IsTime(double ms) { return ms >= 0 && ms <= kMostMs; }  // false for NaN

void VerifyCost(const StartCost& cost, const std::string& where, const char* state) {
  bool good = IsTime(cost.ms) && IsTime(cost.mad_ms) && cost.starts >= 1 && cost.starts <= kMostStarts;
  for (const Step& step : kSteps) good &= IsTime(cost.steps.*step.ms);
  if (!good)
    Invalid(where,
            "the state '{}' is not believed; got {} ms +- {} of {} starts, expected times of at least 0",
            state, cost.ms, cost.mad_ms, cost.starts);
}

Json CostJson(const StartCost& cost) {
  Json steps;
  for (const Step& step : kSteps) steps[step.name] = cost.steps.*step.ms;
  return {{"ms", cost.ms}, {"mad_ms", cost.mad_ms}, {"starts", cost.starts}, {"steps", steps}};
}

StartCost CostFrom(const Json& j, const std::string& where, const char* state) {
  Object(j, where, state);
  StartCost cost{
      j.at("ms"), j.at("mad_ms"), int(WholeNumber(j.at("starts"), where, "starts", 1, kMostStarts)), {}};
  const Json& steps = Object(j.at("steps"), where, "steps");
  for (const Step& step : kSteps) cost.steps.*step.ms = steps.at(step.name);
  return cost;
}

StartCosts CostsFrom(const Json& j, const std::string& where) {
  if (Object(j, where, "the costs of starts").at("format") != kFormat)
    Invalid(where, "the format is wrong; got {}, expected '{}'; try mete profile --starts again",
            JsonText(j.at("format"), -1).substr(0, 100), kFormat);
  StartCosts costs;
  for (const Needed& state : kNeeded) costs.*state.cost = CostFrom(j.at(state.name), where, state.name);
  for (const Optional& state : kOptional)
    if (j.contains(state.name)) costs.*state.cost = CostFrom(j.at(state.name), where, state.name);
  return costs;
}

}  // namespace

void Verify(const StartCosts& costs, const std::string& where) {
  for (const Needed& state : kNeeded) VerifyCost(costs.*state.cost, where, state.name);
  for (const Optional& state : kOptional)
    if (const auto& cost = costs.*state.cost) VerifyCost(*cost, where, state.name);
}

std::string ToJson(const StartCosts& costs) {
  Json j{{"format", kFormat}};
  for (const Needed& state : kNeeded) j[state.name] = CostJson(costs.*state.cost);
  for (const Optional& state : kOptional)
    if (const auto& cost = costs.*state.cost) j[state.name] = CostJson(*cost);
  return JsonText(j, 1);
}

StartCosts StartCostsFromJson(const std::string& text, const std::string& where) {
  if (text.size() > kMostBytes)
    Invalid(where, "too large; got {} bytes, expected at most {}", text.size(), kMostBytes);
  try {
    const StartCosts costs = CostsFrom(ParseJson(text, where), where);
    Verify(costs, where);
    return costs;
  } catch (const Json::exception& e) {
    Invalid(where, "no costs of starts: {}; try mete profile --starts again", ReasonOf(e));
  }
}

}  // namespace mete
