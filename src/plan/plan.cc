#include "plan/plan.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "schedule/policy.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAxisNames[] = {"none", "rows", "channels", "branches"};
constexpr int kMaxThreads = 1024;  // a bound for numbers read from a file

SplitAxis AxisOf(const std::string& name) {
  for (size_t i = 0; i < std::size(kAxisNames); ++i)
    if (name == kAxisNames[i]) return SplitAxis(i);
  Invalid("plan", "unknown split axis; got '{}', expected none, rows, channels or branches", name);
}

// Names come from files and may not be UTF-8, which JSON is: such a name is written as {"bytes": [...]}.
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

Json StepJson(const Step& step) {
  Json j{{"node", NameJson(step.node)}, {"axis", Name(step.axis)}, {"shares", Json::array()},
         {"threads", step.threads},     {"policy", step.policy},   {"reason", step.reason}};
  for (const Share& s : step.shares)
    j["shares"].push_back({{"processor", s.processor}, {"begin", s.begin}, {"end", s.end}});
  if (step.predicted_us > 0) j["predicted_us"] = step.predicted_us, j["blocks"] = step.blocks;
  for (const Rejected& r : step.rejected)
    j["rejected"].push_back({{"choice", r.choice}, {"predicted_us", r.predicted_us}, {"reason", r.reason}});
  return j;
}

int Int(const Json& j, const char* what) { return int(WholeNumber(j, "plan", what, INT_MIN, INT_MAX)); }

Step StepFromJson(const Json& j) {
  Step step;
  step.node = NameFromJson(j.at("node"));
  step.axis = AxisOf(j.at("axis").get<std::string>());
  for (const Json& s : List(j.at("shares"), "plan", "shares"))
    step.shares.push_back(
        {s.at("processor").get<std::string>(), Int(s.at("begin"), "begin"), Int(s.at("end"), "end")});
  step.threads = Int(j.at("threads"), "threads");
  step.policy = j.at("policy").get<std::string>();
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

// The shares' problem, or nothing.
std::string ShareProblem(const Step& step) {
  int at = 0;
  for (const Share& s : step.shares) {
    if (s.processor != "cpu") return fmt::format("unknown processor; got '{}', expected cpu", s.processor);
    if (s.begin != at || s.end <= s.begin)
      return fmt::format("shares must follow each other; got {} to {}, expected a start at {}", s.begin,
                         s.end, at);
    at = s.end;
  }
  return at == 1000 ? "" : fmt::format("shares must cover the output; got an end at {}, expected 1000", at);
}

// of a thread, as read from a file: sums of them stay within 64 bits
constexpr int64_t kMostBlocks = int64_t{1} << 40;

bool IsTime(double us) { return us >= 0 && std::isfinite(us); }

// What is wrong with the prediction and with what it was compared to, or nothing.
std::string PredictionProblem(const Step& step) {
  if (!IsTime(step.predicted_us))
    return fmt::format("a predicted time; got {} us, expected a finite one", step.predicted_us);
  if (!step.blocks.empty() && int64_t(step.blocks.size()) != step.threads)
    return fmt::format("needs the blocks of each of its threads; got {}, expected {}", step.blocks.size(),
                       step.threads);
  for (const int64_t blocks : step.blocks)
    if (blocks < 0 || blocks > kMostBlocks)
      return fmt::format("blocks of a thread; got {}, expected 0 to {}", blocks, kMostBlocks);
  if (step.rejected.size() > kMostRejected)
    return fmt::format("rejected choices; got {}, expected {} at most", step.rejected.size(), kMostRejected);
  for (const Rejected& r : step.rejected)
    if (!IsTime(r.predicted_us))
      return fmt::format("the time of rejected '{}'; got {} us, expected a time", r.choice, r.predicted_us);
  return "";
}

double CapacityOf(int core, const Machine& machine) {
  const Cluster* cluster = machine.ClusterOf(core);
  return cluster ? cluster->capacity : 1;
}

std::vector<double> SpeedsOf(const Plan& plan, const Machine& machine) {
  std::vector<double> speeds(size_t(std::clamp(plan.threads, 1, kMaxThreads)), 1);
  for (size_t w = 0; w < speeds.size(); ++w) {
    if (w < plan.cores.size()) speeds[w] *= CapacityOf(plan.cores[w], machine);
    if (w < plan.speeds.size()) speeds[w] *= plan.speeds[w];
  }
  return speeds;
}

// The calling thread works on the first core, and alone on what is too small to divide: that shall be the
// fastest. Threads of a core that another one has come last, so that the first so many threads are on as many
// cores as there are.
void FastestFirst(Plan& plan, const Machine& machine) {
  const std::vector<double> speeds = SpeedsOf(plan, machine);
  if (plan.cores.size() != speeds.size()) return;
  std::vector<size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const std::vector<bool> shares = machine.SharesCore(plan.cores);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return shares[a] != shares[b] ? shares[b] : speeds[a] > speeds[b];
  });
  const Plan given = plan;
  for (size_t i = 0; i < order.size(); ++i) {
    plan.cores[i] = given.cores[order[i]];
    if (plan.speeds.size() == order.size()) plan.speeds[i] = given.speeds[order[i]];
  }
}

std::string OneThreadReason(const CpuChoice& choice, const Machine& machine) {
  if (choice.threads == 1 || choice.cores.size() == 1) return "one thread was asked for";
  return machine.cores() == 1 ? "this process may use one core"
                              : "one thread: a quota leaves this process the time of one core";
}

}  // namespace

int64_t Step::all_blocks() const { return std::accumulate(blocks.begin(), blocks.end(), int64_t{0}); }

const char* Name(SplitAxis axis) { return kAxisNames[size_t(axis)]; }

Plan PlanOneCpu(const Graph& graph, const Machine& machine, const CpuChoice& choice) {
  const int available = choice.cores.empty() ? machine.default_threads() : int(choice.cores.size());
  Plan plan{graph.name,   machine.name,  choice.threads > 0 ? choice.threads : available,
            choice.cores, choice.speeds, {}};
  FastestFirst(plan, machine);
  const std::string how =
      choice.policy == "equal" ? "take equal slices" : "share by the policy " + choice.policy;
  for (const Node& node : graph.nodes) {
    Step step{node.name, SplitAxis::kNone, {{"cpu", 0, 1000}}, plan.threads, choice.policy, ""};
    step.reason = plan.threads == 1 ? OneThreadReason(choice, machine)
                                    : fmt::format("one CPU; its {} threads {}", plan.threads, how);
    if (!plan.speeds.empty())
      step.reason += fmt::format("; speeds {} are emulated", fmt::join(plan.speeds, " and "));
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

std::vector<WorkerSpeed> WorkersOf(const Plan& plan, const Machine& machine) {
  return WorkersOf(SpeedsOf(plan, machine));
}

void Verify(const Plan& plan, const Graph& graph, const Machine& machine) {
  SharedProblems problems;
  bool of_another_graph = false;
  const auto add = [&](const std::string& where, const std::string& what) { problems.Add(where, what); };
  if (plan.threads < 1 || plan.threads > kMaxThreads)
    add("plan", fmt::format("threads; got {}, expected 1 to {}", plan.threads, kMaxThreads));
  if (!plan.cores.empty() && int(plan.cores.size()) != plan.threads)
    add("plan", fmt::format("needs a core for each thread; got {} cores, expected {}", plan.cores.size(),
                            plan.threads));
  if (!plan.speeds.empty() && int(plan.speeds.size()) != plan.threads)
    add("plan", fmt::format("needs a speed for each thread; got {} speeds, expected {}", plan.speeds.size(),
                            plan.threads));
  for (double speed : plan.speeds)
    if (!(speed >= kLeastSpeed && speed <= 1))
      add("plan", fmt::format("an emulated speed; got {}, expected {} to 1", speed, kLeastSpeed));
  for (int core : plan.cores)
    if (!machine.ClusterOf(core))
      add("plan", fmt::format("core {} is not on this machine, or not for this process", core));
  for (int core : std::set<int>(plan.cores.begin(), plan.cores.end()))
    if (std::count(plan.cores.begin(), plan.cores.end(), core) > 1)
      add("plan", fmt::format("core {} is named twice; expected each core once", core));
  if (plan.steps.size() != graph.nodes.size())
    add("plan", fmt::format("needs a step for each node; got {}, expected {}", plan.steps.size(),
                            graph.nodes.size()));
  for (size_t i = 0; i < std::min(plan.steps.size(), graph.nodes.size()); ++i) {
    const Step& step = plan.steps[i];
    if (step.node != graph.nodes[i].name && !std::exchange(of_another_graph, true))
      add(step.node, fmt::format("step {} is for another node; expected '{}'; the plan is of another model",
                                 i, graph.nodes[i].name));
    if (const std::string problem = ShareProblem(step); !problem.empty()) add(step.node, problem);
    if (const std::string problem = PredictionProblem(step); !problem.empty()) add(step.node, problem);
    if (std::find(PolicyNames().begin(), PolicyNames().end(), step.policy) == PolicyNames().end())
      add(step.node,
          fmt::format("unknown policy; got '{}'{}", step.policy, ExpectedOneOf(step.policy, PolicyNames())));
    else if (step.policy != plan.steps[0].policy)
      add(step.node, fmt::format("one policy serves all steps; got '{}', expected '{}'", step.policy,
                                 plan.steps[0].policy));
    if (step.threads < 1 || step.threads > plan.threads)
      add(step.node, fmt::format("threads; got {}, expected 1 to the plan's {}", step.threads, plan.threads));
  }
  problems.ThrowIfAny();
}

std::string ToText(const Plan& plan) {
  std::string out = fmt::format("plan for {} on {}, {} thread{}\n", plan.model, plan.machine, plan.threads,
                                plan.threads == 1 ? "" : "s");
  for (const Step& s : plan.steps) {
    out += fmt::format("  {}: {} on {} of {} threads, {}", s.node, s.shares[0].processor, s.threads,
                       plan.threads, s.policy);
    if (s.predicted_us > 0)
      out += fmt::format(", blocks {}, {:.1f} us predicted", fmt::join(s.blocks, " + "), s.predicted_us);
    out += fmt::format(" ({})\n", s.reason);
    for (const Rejected& r : s.rejected)
      out += fmt::format("    not {}, {:.1f} us: {}\n", r.choice, r.predicted_us, r.reason);
  }
  return out;
}

std::string ToJson(const Plan& plan) {
  Json j{{"format", "mete-plan"},         {"version", 1},
         {"model", NameJson(plan.model)}, {"machine", NameJson(plan.machine)},
         {"threads", plan.threads},       {"cores", plan.cores},
         {"speeds", plan.speeds},         {"steps", Json::array()}};
  for (const Step& s : plan.steps) j["steps"].push_back(StepJson(s));
  return j.dump(2, ' ', false, Json::error_handler_t::replace);  // for reasons, which are for people
}

Plan PlanFromJson(const std::string& text) {
  try {
    const Json j = ParseJson(text, "plan");
    if (!j.is_object() || j.value("format", Json()) != "mete-plan" || j.value("version", Json()) != 1)
      Invalid("plan",
              "the text is not a plan of version 1; got JSON without \"format\": \"mete-plan\" and "
              "\"version\": 1; try what --save-plan "
              "writes, in C++ Session::PlanJson()");
    Plan plan;
    plan.model = NameFromJson(j.at("model"));
    plan.machine = NameFromJson(j.at("machine"));
    plan.threads = Int(j.at("threads"), "threads");
    for (const Json& core : List(j.at("cores"), "plan", "cores")) plan.cores.push_back(Int(core, "a core"));
    plan.speeds = j.value("speeds", std::vector<double>());
    for (const Json& s : List(j.at("steps"), "plan", "steps")) plan.steps.push_back(StepFromJson(s));
    return plan;
  } catch (const Json::exception& e) {
    Invalid("plan", "the text is not a plan: {}; try what --save-plan writes, in C++ Session::PlanJson()",
            ReasonOf(e));
  }
}

}  // namespace mete
