// The report of a file that a command has written.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "report/parts.h"
#include "report/timeline.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

// Returns the nodes of a timeline whose slices have operators: the time of the first lane, which takes a part
// in each node.
Json NodesOf(const Json& timeline) {
  Json nodes = Json::array();
  for (const Json& slice : timeline["slices"]) {
    const Json& name = timeline["names"][slice[1].get<size_t>()];
    const std::string kind = timeline["kinds"][slice[2].get<size_t>()];
    if (slice[0] != 0 || name[1] == "" || (kind != "node" && kind != "layout")) continue;
    nodes.push_back(
        {{"node", name[0]}, {"op", name[1]}, {"us", slice[4]}, {"flops", name[2]}, {"bytes", name[3]}});
  }
  return nodes;
}

void AddTrace(const Json& trace, const std::string& path, Report& report) {
  const Json timeline = TimelineOf({"Over time", "As the file has it.", "saved"}, trace, path);
  report.about = fmt::format("a trace of {}", FormatMs(timeline["total_us"].get<double>() * 1e-3));
  report.nodes = NodesOf(timeline);
  report.timelines.push_back(timeline);
  SayNodes(report);
}

// The texts of a list, those that are no text as JSON.
std::vector<std::string> NamesOf(const Json& list, const std::string& path, const char* what) {
  std::vector<std::string> names;
  for (const Json& name : List(list, path, what))
    names.push_back(name.is_string() ? name.get<std::string>() : JsonText(name, -1));
  return names;
}

// A plan of --save-plan, or what `mete plan --json` says of one.
void AddSavedPlan(const Json& json, const std::string& path, Report& report) {
  const std::vector<std::string> processors = NamesOf(json.at("processors"), path, "processors");
  const std::vector<std::string> layers = NamesOf(json.at("layers"), path, "layers");
  Json plan{{"objective", json.value("objective", "latency")},
            {"summary", json.value("summary", "")},
            {"note", json.value("note", "")},
            {"predicted_us", json.value("predicted_us", 0.0)},
            {"gather_us", json.value("gather_us", 0.0)},
            {"groups", Json::array()},
            {"processors", Json::array()},
            {"transfers", Json::array()}};
  for (const std::string& name : processors) plan["processors"].push_back({{"name", name}, {"used", false}});
  for (const Json& group : json.at("groups")) {
    const size_t last = size_t(WholeNumber(group.at("last"), path, "last", 0, int64_t(layers.size())));
    const size_t first = size_t(WholeNumber(group.at("first"), path, "first", 0, int64_t(last)));
    Json shown{{"layers",
                first < last ? fmt::format("{} to {}", layers[first], layers[last - 1]) : "values that move"},
               {"us", group.value("us", 0.0)},
               {"shares", Json::array()}};
    const Json& parts = group.at("parts");
    for (size_t k = 0; k < group.at("shares").size(); ++k) {
      const Json& share = group["shares"][k];
      const size_t processor =
          size_t(WholeNumber(share.at("processor"), path, "processor", 0, int64_t(processors.size()) - 1));
      const std::string part =
          k < parts.size() && parts.size() > 1
              ? FormatPercent(parts[k].get<double>()) + " by " + group.value("split", "rows")
              : "all";
      shown["shares"].push_back({{"processor", processor},
                                 {"name", processors[processor]},
                                 {"part", part},
                                 {"bytes", share.value("bytes", int64_t(0))},
                                 {"ready_us", share.value("ready_us", 0.0)},
                                 {"compute_us", share.value("compute_us", 0.0)}});
      plan["processors"][processor]["used"] = true;
    }
    plan["groups"].push_back(std::move(shown));
  }
  report.about = fmt::format("a plan of {} for {} processor{}", json.value("planner", "a planner"),
                             processors.size(), processors.size() == 1 ? "" : "s");
  if (plan["predicted_us"] > 0)
    report.says.push_back(fmt::format("A request is predicted to take {}.",
                                      FormatMs(json["predicted_us"].get<double>() * 1e-3)));
  report.plan = std::move(plan);
}

// Returns the nodes of --profile: the time of the first thread, which takes a part in each node.
Json NodesOfProfile(const Json& profile, const std::string& path) {
  Json nodes = Json::array();
  for (const Json& event : List(profile.at("events"), path, "events")) {
    if (event.at("worker") != 0 || event.at("name") == "[wait]") continue;
    nodes.push_back({{"node", event["name"]},
                     {"op", event.at("op")},
                     {"us", event.at("us")},
                     {"flops", event.value("flops", int64_t(0))}});
  }
  return nodes;
}

// The JSON of bench, run and inspect: with --explain nodes, with --profile a timeline.
void AddMeasurement(const Json& json, const std::string& path, Report& report) {
  report.about = fmt::format(
      "{}{}", json.value("cpu", "a measurement"),
      json.contains("threads")
          ? fmt::format(", {} thread{}", json["threads"].get<int>(), json["threads"] == 1 ? "" : "s")
          : "");
  if (json.contains("median_ms")) {
    report.says.push_back(
        fmt::format("A run takes {}: the median of {} runs, which took {} to {}.",
                    FormatMs(json["median_ms"]), json.value("runs", json.value("requests", 0)),
                    FormatMs(json.value("min_ms", 0.0)), FormatMs(json.value("max_ms", 0.0))));
    report.facts.push_back({"median", FormatMs(json["median_ms"])});
  }
  for (const auto& [key, name] :
       {std::pair("load_ms", "load"), {"prepare_ms", "prepare"}, {"first_answer_ms", "first answer"}})
    if (json.contains(key)) report.facts.push_back({name, FormatMs(json[key])});
  for (const auto& [key, name] :
       {std::pair("peak_memory_bytes", "memory at most"), {"packed_bytes", "packed weights"}})
    if (json.contains(key)) report.facts.push_back({name, FormatBytes(json[key])});
  if (json.contains("steps")) AddNodes(List(json["steps"], path, "steps"), nullptr, report);
  else if (json.contains("profile")) report.nodes = NodesOfProfile(json["profile"], path);
  if (json.contains("limits")) report.limits = json["limits"];
  for (const Json& c : json.value("computing", Json::array()))
    if (c.at("predicted_ms") > 0)
      report.compared.push_back({{"what", c.at("processor").get<std::string>() + " computes, least"},
                                 {"predicted_us", c.at("predicted_ms").get<double>() * 1e3},
                                 {"measured_us", c.at("least_ms").get<double>() * 1e3}});
  if (json.contains("predicted_ms") && json["predicted_ms"] > 0)
    report.compared.push_back({{"what", "a request"},
                               {"predicted_us", json["predicted_ms"].get<double>() * 1e3},
                               {"measured_us", json.at("median_ms").get<double>() * 1e3}});
  SayNodes(report);
}

// `mete simulate --json`: policies on a CPU, or planners on several processors.
void AddComparison(const Json& json, Report& report) {
  const bool policies = json.contains("policies");
  const Json& rows = json.at(policies ? "policies" : "planners");
  report.about = fmt::format("{} in virtual time on {}", policies ? "policies" : "planners",
                             json.value(policies ? "machine" : "processors", ""));
  double least = json.value("alone_us", 0.0);
  std::string leaders;  // with the least time
  for (const Json& row : rows) {
    const double us =
        policies ? row.at("median_ms").get<double>() * 1e3 : row.at("simulated_us").get<double>();
    least = least == 0 ? us : std::min(least, us);
  }
  for (const Json& row : rows) {
    const std::string name = row.at(policies ? "policy" : "planner");
    const double us =
        policies ? row.at("median_ms").get<double>() * 1e3 : row.at("simulated_us").get<double>();
    const std::string why = policies ? fmt::format("{} of what all cores' speeds together allow",
                                                   FormatPercent(row.at("efficiency")))
                                     : fmt::format("{:.2f} times as fast as the best single processor",
                                                   row.at("speed_up").get<double>());
    report.choices.push_back({{"name", name}, {"us", us}, {"chosen", us == least}, {"why", why}});
    if (us == least) leaders += (leaders.empty() ? "" : ", ") + name;
  }
  if (!leaders.empty())
    report.says.push_back(fmt::format("The least time is {}, of {}.", FormatMs(least * 1e-3), leaders));
  if (json.contains("alone_us"))
    report.choices.push_back({{"name", "the best single processor"},
                              {"us", json["alone_us"]},
                              {"chosen", json["alone_us"] == least},
                              {"why", ""}});
  const std::string note = json.value(policies ? "estimates" : "note", "");
  if (!note.empty()) report.says.push_back((policies ? "Estimates: " : "") + note);
}

void AddFile(const Json& json, const std::string& path, Report& report) {
  if (json.contains("traceEvents")) return AddTrace(json, path, report);
  if (json.value("format", "") == "mete-plan") return AddSavedPlan(json, path, report);
  if (json.contains("policies") || json.contains("planners")) return AddComparison(json, report);
  if (json.contains("steps") || json.contains("profile") || json.contains("median_ms"))
    return AddMeasurement(json, path, report);
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += (keys.empty() ? "'" : ", '") + Printable(key) + "'";
  Invalid(path,
          "is no file that a report can show; got the keys {}, expected a trace, a plan, or the JSON of "
          "bench, run, "
          "inspect or simulate; try mete bench MODEL --explain --json > bench.json",
          keys.empty() ? "of nothing" : keys);
}

}  // namespace

Report ReportOfFile(const std::string& path) {
  const std::string text = ReadTextFile(path);
  Report report;
  report.title = std::filesystem::path(path).filename().string();
  try {
    const Json json = ParseJson(text, path);
    if (!json.is_object()) Invalid(path, "is no JSON object; expected what a command of Mete has written");
    if (json.contains("model") && json["model"].is_string()) report.title = json["model"];
    AddFile(json, path, report);
  } catch (const Json::exception& e) {
    Invalid(path, "cannot be read; got {}, expected what a command of Mete has written", ReasonOf(e));
  }
  return report;
}

}  // namespace mete::cli
