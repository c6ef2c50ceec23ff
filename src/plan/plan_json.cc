#include <climits>

#include "base/error.h"
#include "base/json.h"
#include "plan/plan.h"
#include "plan/threads/thread_plan_json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 2;

constexpr const char* kTry = "try what --save-plan writes, in C++ Session::PlanJson()";

int Int(const Json& j, const char* what) { return int(WholeNumber(j, "plan", what, INT_MIN, INT_MAX)); }

template <class T, class F>
std::vector<T> ListOf(const Json& j, const char* what, const F& element) {
  std::vector<T> list;
  for (const Json& e : List(j, "plan", what)) list.push_back(element(e));
  return list;
}

std::vector<int> Ints(const Json& j, const char* what) {
  return ListOf<int>(j, what, [&](const Json& e) { return Int(e, what); });
}

std::vector<std::string> Names(const Json& j, const char* what) {
  return ListOf<std::string>(j, what, NameFromJson);
}

Json NamesJson(const std::vector<std::string>& names) {
  Json j = Json::array();
  for (const std::string& name : names) j.push_back(NameJson(name));
  return j;
}

Json PartsJson(const Graph& graph, const std::vector<ValuePart>& parts) {
  Json list = Json::array();
  for (const ValuePart& vp : parts) {
    Json& j = list.emplace_back(Json{{"value", NameJson(graph.value(vp.value).name)}});
    if (vp.part.all()) continue;
    j["axis"] = vp.part.axis;
    j["rows"] = {vp.part.rows.begin, vp.part.rows.end};
  }
  return list;
}

Json ShareJson(const Share& share, const Graph& graph) {
  Json j{{"processor", share.processor},
         {"inputs", PartsJson(graph, share.inputs)},
         {"outputs", PartsJson(graph, share.outputs)},
         {"bytes", share.bytes},
         {"ready_us", share.ready_us},
         {"compute_us", share.compute_us}};
  if (share.threads) j["threads"] = ThreadPlanJson(*share.threads);
  return j;
}

Json GroupJson(const PlannedGroup& group, const Graph& graph) {
  const Placement& p = group.placement;
  Json j{{"first", group.first}, {"last", group.last}, {"split", Name(p.split)}, {"processors", p.processors},
         {"parts", p.shares},    {"owners", p.owners}, {"us", group.us},         {"shares", Json::array()}};
  for (const Share& share : group.shares) j["shares"].push_back(ShareJson(share, graph));
  return j;
}

PlannedGroup GroupFromJson(const Json& j) {
  PlannedGroup group;
  group.first = Int(j.at("first"), "first");
  group.last = Int(j.at("last"), "last");
  group.placement.split = SplitAxisOf(j.at("split").get<std::string>(), "plan");
  group.placement.processors = Ints(j.at("processors"), "processors");
  group.placement.shares =
      ListOf<double>(j.at("parts"), "parts", [](const Json& e) { return e.get<double>(); });
  group.placement.owners = Ints(j.at("owners"), "owners");
  group.us = j.value("us", 0.0);
  return group;
}

// Gives the group's shares, which follow from its placement, the figures and threads of the text.
void ReadShares(const Json& list, const Graph& graph, PlannedGroup& group) {
  if (list.size() != group.shares.size())
    Invalid("plan", "the shares of a group are not those of its placement; got {}, expected {}; {}",
            list.size(), group.shares.size(), kTry);
  for (size_t k = 0; k < group.shares.size(); ++k) {
    Share& share = group.shares[k];
    const Json& j = list[k];
    if (Int(j.at("processor"), "processor") != share.processor ||
        j.at("inputs") != PartsJson(graph, share.inputs) ||
        j.at("outputs") != PartsJson(graph, share.outputs))
      Invalid("plan", "the parts of a share are not those of its group's placement; got {}, expected {}; {}",
              j.at("outputs").dump(), PartsJson(graph, share.outputs).dump(), kTry);
    share.bytes = WholeNumber(j.at("bytes"), "plan", "bytes", 0);
    share.ready_us = j.at("ready_us").get<double>();
    share.compute_us = j.at("compute_us").get<double>();
    if (j.contains("threads")) share.threads = ThreadPlanFromJson(Object(j["threads"], "plan", "threads"));
  }
}

void CheckVersion(const Json& j) {
  if (!j.is_object() || j.value("format", Json()) != "mete-plan" || j.value("version", Json()) != kVersion)
    Invalid("plan",
            "the text is not a plan of version {0}; got JSON without \"format\": \"mete-plan\" and "
            "\"version\": {0}; {1}",
            kVersion, kTry);
}

Plan ReadPlan(const Json& j, const Graph& graph) {
  CheckVersion(j);
  Plan plan;
  plan.model = NameFromJson(j.at("model"));
  plan.planner = j.value("planner", "");
  plan.processors = Names(j.at("processors"), "processors");
  plan.layers = Names(j.at("layers"), "layers");
  plan.gather_us = j.value("gather_us", 0.0);
  plan.predicted_us = j.value("predicted_us", 0.0);
  plan.period_us = j.value("period_us", 0.0);
  plan.joules = j.value("joules", 0.0);
  const Json& groups = List(j.at("groups"), "plan", "groups");
  for (const Json& g : groups) plan.groups.push_back(GroupFromJson(Object(g, "plan", "a group")));
  DeriveShares(plan, graph);
  for (size_t g = 0; g < plan.groups.size(); ++g)
    ReadShares(List(groups[g].at("shares"), "plan", "shares"), graph, plan.groups[g]);
  Verify(plan, graph);
  return plan;
}

}  // namespace

std::string ToJson(const Plan& plan, const Graph& graph) {
  Json j{{"format", "mete-plan"},
         {"version", kVersion},
         {"model", NameJson(plan.model)},
         {"planner", plan.planner},
         {"processors", NamesJson(plan.processors)},
         {"layers", NamesJson(plan.layers)},
         {"period_us", plan.period_us},
         {"gather_us", plan.gather_us},
         {"joules", plan.joules},
         {"groups", Json::array()}};
  if (plan.predicted_us > 0) j["predicted_us"] = plan.predicted_us;
  for (const PlannedGroup& group : plan.groups) j["groups"].push_back(GroupJson(group, graph));
  return JsonText(j, 2);
}

Plan PlanFromJson(const std::string& text, const Graph& graph) {
  try {
    return ReadPlan(ParseJson(text, "plan"), graph);
  } catch (const Json::exception& e) {
    Invalid("plan", "the text is not a plan: {}; {}", ReasonOf(e), kTry);
  }
}

}  // namespace mete
