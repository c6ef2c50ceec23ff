#include "plan_site.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "checks.h"
#include "engine/model.h"
#include "installed_files.h"
#include "objective.h"
#include "partition/layers.h"
#include "plan/site/plan_site.h"
#include "pool_figure.h"
#include "simulate/site/estimate_site.h"
#include "terminal.h"

namespace mete::cli {
namespace {

constexpr const char* kNote =
    "Times of layers are estimates from the machine files (a roofline), and the rest are the site's file's "
    "figures; nothing here was measured. "
    "late: with the link at its 95th percentile. energy: of the device.";

struct Planned {
  const std::string& model;
  const std::string& objective;
  const SiteFlags& flags;
  const SiteFile& site;
  const SiteCosts& costs;
  const SitePlan& plan;
  const std::vector<Layer>& layers;
};

SiteFile SiteOf(const SiteFlags& flags) {
  SiteFile site = ReadSiteFile(FindBoard(flags.site, "--site"));
  if (!flags.link.empty()) site.link = FindNamedLink(flags.link, "--link").link();
  if (!flags.connection.empty())
    site.connection = flags.connection == "warm"   ? Connection::kWarm
                      : flags.connection == "idle" ? Connection::kIdle
                                                   : Connection::kCold;
  return site;
}

// Returns "3 of 9 layers, to 'pool3'", or "4 of 9 layers" of a cut that is not between two layers.
std::string OnDeviceText(const SiteWay& way, const std::vector<Layer>& layers) {
  const auto count = std::count(way.on_device.begin(), way.on_device.end(), true);
  if (count == 0) return "none";
  if (size_t(count) == layers.size()) return "all";
  std::string text = fmt::format("{} of {} layers", count, layers.size());
  if (std::is_sorted(way.on_device.rbegin(), way.on_device.rend()))
    text += fmt::format(", to '{}'", layers[size_t(count) - 1].name);
  return text;
}

std::string TableOf(const Planned& p) {
  Rows rows{{"way", "load", "preprocess", "upload", "compute", "all", "late", "period", "energy", "sent",
             "on the device"}};
  for (const SiteWay& way : p.plan.ways) {
    if (!way.can()) continue;
    rows.push_back(
        {fmt::format("{}{}", way.candidate == p.plan.choice ? "> " : "  ", NameOf(way.candidate))});
    for (const double ms : {way.steps.load_ms, way.steps.preprocess_ms, way.steps.upload_ms,
                            way.steps.compute_ms, way.steps.total_ms(), way.late_ms, way.period_ms})
      rows.back().push_back(ms == 0 ? "-" : FormatMs(ms));
    rows.back().push_back(way.joules ? JoulesText(*way.joules) : "?");
    rows.back().push_back(way.up_bytes == 0 ? "-" : FormatBytes(way.up_bytes));
    rows.back().push_back(OnDeviceText(way, p.layers));
  }
  return FormatTable(rows, "lrrrrrrrrrl");
}

void Print(const Planned& p) {
  const Style style = StyleOf(1);
  PrintText(fmt::format("{}{}{} on {}, {} on the device\n", style.bold, p.model, style.reset, p.site.name,
                        p.flags.state));
  fmt::print("{}", TableOf(p));
  for (const SiteWay& way : p.plan.ways)
    if (!way.can()) PrintText(fmt::format("  {}: {}", NameOf(way.candidate), way.why_not));
  for (const LoadTerm& term : p.plan.ways[size_t(SiteCandidate::kDevice)].load_terms)
    PrintText("  of the device's way: " + TextOf(term));
  fmt::print("\n");
  PrintText(p.plan.reason + ".");
  if (p.plan.give_up_ms > 0)
    PrintText(fmt::format("If the server has not answered after {}, the device computes the request itself.",
                          FormatMs(p.plan.give_up_ms)));
  fmt::print("\n");
  PrintText(kNote);
}

Json LayersJson(const Planned& p, const SiteWay& way, Side side) {
  Json names = Json::array();
  for (size_t l = 0; l < way.on_device.size(); ++l)
    if (way.on_device[l] == (side == Side::kDevice)) names.push_back(p.layers[l].name);
  return names;
}

Json WayJson(const Planned& p, const SiteWay& way) {
  Json json{{"way", NameOf(way.candidate)}};
  if (!way.can()) {
    json["why_not"] = way.why_not;
    return json;
  }
  json.update({{"load_ms", way.steps.load_ms},
               {"preprocess_ms", way.steps.preprocess_ms},
               {"upload_ms", way.steps.upload_ms},
               {"compute_ms", way.steps.compute_ms},
               {"total_ms", way.steps.total_ms()},
               {"device_picture_ms", way.device_picture_ms},
               {"server_picture_ms", way.server_picture_ms},
               {"upload",
                {{"connect_ms", way.upload.connect_ms},
                 {"round_trip_ms", way.upload.round_trip_ms},
                 {"bytes_ms", way.upload.bytes_ms},
                 {"slow_start_ms", way.upload.slow_start_ms}}},
               {"device_ms", way.device_ms},
               {"server_ms", way.server_ms},
               {"wait_ms", way.wait_ms},
               {"late_ms", way.late_ms},
               {"period_ms", way.period_ms},
               {"up_bytes", way.up_bytes},
               {"down_bytes", way.down_bytes},
               {"on_device", LayersJson(p, way, Side::kDevice)},
               {"on_server", LayersJson(p, way, Side::kServer)}});
  for (const LoadTerm& term : way.load_terms)
    json["load_terms"].push_back(
        {{"part", KeptPartWords()[size_t(term.part)]}, {"ms", term.ms ? Json(*term.ms) : Json()}});
  json["joules"] = way.joules ? Json(*way.joules) : Json();
  return json;
}

Json SiteJson(const Planned& p) {
  const NetworkLink& link = p.site.link;
  Json json{{"model", p.model},
            {"site", p.site.name},
            {"state", p.flags.state},
            {"objective", p.objective},
            {"choice", NameOf(p.plan.choice)},
            {"reason", p.plan.reason},
            {"in_time", p.plan.in_time},
            {"give_up_ms", p.plan.give_up_ms},
            {"ways", Json::array()},
            {"note", kNote}};
  if (p.costs.has_server)
    json["link"] = {{"connect_ms", link.connect_ms},
                    {"round_trip_ms", link.round_trip_ms},
                    {"up_mbit_per_s", link.up_mbit_per_s},
                    {"down_mbit_per_s", link.down_mbit_per_s},
                    {"late_ratio", link.late_ratio}};
  for (const SiteWay& way : p.plan.ways) json["ways"].push_back(WayJson(p, way));
  return json;
}

MissingParts MissingOf(const SiteFlags& flags) {
  MissingParts missing;
  for (size_t p = 0; p < kKeptParts; ++p)
    missing[p] = std::count(flags.without.begin(), flags.without.end(), KeptPartWords()[p]) > 0;
  return missing;
}

}  // namespace

void AddSiteFlags(CLI::App& command, SiteFlags& flags) {
  CLI::Option* site = command
                          .add_option("--site", flags.site,
                                      "a device and a server instead, that a file describes: what is "
                                      "computed where, and the four steps of each way")
                          ->type_name("FILE.toml")
                          ->group("Site");
  ExcludeOthers(command, *site,
                {"--machine", "--processors", "--policy", "--cores", "--interference", "--runs", "--trace",
                 "--save-plan"});
  command.add_option("--state", flags.state, "where the model is on the device when the request comes")
      ->type_name("NAME")
      ->check(OneOf(StartStates()))
      ->capture_default_str()
      ->needs(site)
      ->group("Site");
  command
      .add_option("--without", flags.without,
                  "what is not kept on the device, which a start from the states killed and cold takes anew")
      ->type_name("PART,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(OneOf(KeptPartWords()))
      ->needs(site)
      ->group("Site");
  std::vector<std::string> links;
  for (const NamedLink& profile : NamedLinks()) links.push_back(profile.name);
  command.add_option("--link", flags.link, "a link by its name, instead of the file's")
      ->type_name("NAME")
      ->check(OneOf(links))
      ->needs(site)
      ->group("Site");
  command
      .add_option("--connection", flags.connection, "what the request finds, instead of what the file says")
      ->type_name("NAME")
      ->check(OneOf({"warm", "idle", "cold"}))
      ->needs(site)
      ->group("Site");
  AddDeadlineFlag(command, site, flags.deadline_ms);
}

void PlanTheSite(const Model& model, const std::string& model_name, const std::string& objective,
                 const SiteFlags& flags, const Context& context) {
  CheckSiteObjective(objective, flags.deadline_ms);
  const Graph& graph = DivisibleOf(model);
  const SiteFile site = SiteOf(flags);
  const SiteCosts costs =
      EstimateSite(graph, site, ParseStartState(flags.state, "--state"), MissingOf(flags));
  const SitePlan plan =
      PlanSite(graph, costs, {ParsePoolObjective(objective, "--objective"), flags.deadline_ms});
  const std::vector<Layer> layers = LayersOf(graph);
  const Planned planned{model_name, objective, flags, site, costs, plan, layers};
  if (context.json) PrintJson(SiteJson(planned));
  else Print(planned);
}

}  // namespace mete::cli
