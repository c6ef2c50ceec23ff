// What `mete run --site` says of the ways.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "pool_figure.h"
#include "site_parts.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct StepName {
  const char *name, *key;
  double SiteSteps::*ms;
};
constexpr StepName kSteps[] = {{"load", "load_ms", &SiteSteps::load_ms},
                               {"preprocess", "preprocess_ms", &SiteSteps::preprocess_ms},
                               {"upload", "upload_ms", &SiteSteps::upload_ms},
                               {"compute", "compute_ms", &SiteSteps::compute_ms}};

Json StepsJson(const SiteSteps& steps) {
  Json json;
  for (const StepName& step : kSteps) json[step.key] = steps.*step.ms;
  json["total_ms"] = steps.total_ms();
  return json;
}

std::string WhyNot(const SiteReport& r, const SiteWay& way) {
  const bool asks = way.candidate != SiteCandidate::kDevice;
  return asks && !r.no_server.empty() ? r.no_server : way.why_not;
}

int LayersOnDevice(const SiteWay& way) {
  return int(std::count(way.on_device.begin(), way.on_device.end(), true));
}

Json CutJson(const SiteWay& cut) {
  return {{"layers_on_device", LayersOnDevice(cut)},
          {"layers", cut.on_device.size()},
          {"up_bytes", cut.up_bytes},
          {"down_bytes", cut.down_bytes}};
}

// "In the cut the device computes 3 of 10 layers and sends 80.0 kB"; what the plan of a cut has to say beside
// its steps.
std::string CutText(const SiteReport& r, const SiteWay& cut) {
  return fmt::format("In the cut the device computes {} of {} layers and sends {}; {}.\n",
                     LayersOnDevice(cut), cut.on_device.size(), FormatBytes(cut.up_bytes),
                     r.knows_layers ? "the times of layers were measured on both sides"
                                    : "the times of layers are guesses by their arithmetic, until "
                                      "`mete profile MODEL --processors SITE.toml` measures them");
}

// "The device's way is computed on cpu:0,cpu:1; the last session's plan: layers 1 to 9 on cpu:0+cpu:1. ..."
std::string PoolText(const SiteReport& r) {
  const std::string& home = r.pool->pool.processors()[0].name;
  std::string text = fmt::format("The device's way is computed on {}", r.pool->pool.name());
  if (!r.pool_plan.empty()) text += "; the last session's plan: " + Printable(r.pool_plan);
  text += fmt::format(".\nIn a cut {} alone computes the device's layers.\n", home);
  if (r.done.by_home)
    text += fmt::format("This answer is of {} alone, because the session had no plan yet.\n", home);
  return text;
}

Json PoolJson(const SiteReport& r) {
  Json json{{"name", r.pool->pool.name()}, {"home", r.pool->pool.processors()[0].name}};
  if (!r.pool_plan.empty()) json["plan"] = r.pool_plan;
  if (r.done.by_home) json["answered_by_home"] = true;
  return json;
}

Json TermsJson(const std::vector<LoadTerm>& terms) {
  Json json = Json::array();
  for (const LoadTerm& term : terms) {
    Json one{{"part", KeptPartWords()[size_t(term.part)]}, {"is_missing", term.is_missing}};
    if (term.ms) one["ms"] = *term.ms;
    if (!term.why.empty()) one["why"] = term.why;
    json.push_back(std::move(one));
  }
  return json;
}

// What the device's load has of what is not kept, a line for each part.
std::string TermsText(const std::vector<LoadTerm>& terms) {
  std::string text;
  bool all_known = true;
  for (const LoadTerm& term : terms) {
    text += fmt::format("  of the device's way: {}\n", TextOf(term));
    all_known &= term.ms.has_value();
  }
  return all_known ? text : text + "  (`mete profile --starts MODEL` measures what they add)\n";
}

// "as planned", or why this way and no other.
std::string HowText(const SiteReport& r) {
  if (!r.fell_back.empty()) return fmt::format("instead of {}: {}", NameOf(r.chosen), r.fell_back);
  if (r.chosen != r.plan.choice) return fmt::format("as --way says; the plan is {}", NameOf(r.plan.choice));
  return "as planned";
}

std::string PredictedText(const SiteWay& way) {
  return FormatMs(way.steps.total_ms()) + " predicted" +
         (way.joules ? fmt::format(", {}", JoulesText(*way.joules)) : "");
}

}  // namespace

Json SitePlanJson(const SitePlan& plan) {
  Json json{{"choice", NameOf(plan.choice)}, {"ways", Json::array()}};
  for (const SiteWay& way : plan.ways) {
    if (!way.can()) continue;
    Json one{{"way", NameOf(way.candidate)}};
    one.update(StepsJson(way.steps));
    one.update(Json{{"ask_ms", way.ask_ms},
                    {"connect_ms", way.upload.connect_ms},
                    {"round_trip_ms", way.upload.round_trip_ms},
                    {"bytes_ms", way.upload.bytes_ms},
                    {"slow_start_ms", way.upload.slow_start_ms},
                    {"late_ms", way.late_ms}});
    if (way.joules) one["joules"] = *way.joules;
    if (way.candidate == SiteCandidate::kCut) one["cut"] = CutJson(way);
    json["ways"].push_back(std::move(one));
  }
  return json;
}

Json SiteReportJson(const SiteReport& r) {
  Json json{{"site", r.site},
            {"objective", r.objective},
            {"way", NameOf(r.done.way)},
            {"chosen", NameOf(r.chosen)},
            {"planned", NameOf(r.plan.choice)},
            {"reason", r.plan.reason},
            {"state", StartStates()[size_t(r.state)]},
            {"process_ms", r.process_ms},
            {"predicted", StepsJson(r.plan.ways[size_t(r.done.way)].steps)},
            {"measured", StepsJson(r.done.steps)},
            {"whole_ms", r.done.whole_ms},
            {"ways", Json::array()}};
  if (!r.fell_back.empty()) json["fell_back"] = r.fell_back;
  if (!r.no_server.empty()) json["no_server"] = r.no_server;
  else if (r.asked) json["asked"] = {{"connect_ms", r.connect_ms}, {"round_trip_ms", r.round_trip_ms}};
  if (!r.measured.empty()) json["measured_first"] = r.measured;
  if (r.pool) json["pool"] = PoolJson(r);
  for (const SiteWay& way : r.plan.ways) {
    Json one{{"way", NameOf(way.candidate)}};
    if (way.can()) {
      one["predicted"] = StepsJson(way.steps);
      one["period_ms"] = way.period_ms;
      if (way.joules) one["joules"] = *way.joules;
      if (!way.load_terms.empty()) one["load_terms"] = TermsJson(way.load_terms);
    } else {
      one["why_not"] = WhyNot(r, way);
    }
    if (way.candidate == SiteCandidate::kCut && way.can()) {
      one["cut"] = CutJson(way);
      one["cut"]["layers_are_measured"] = r.knows_layers;
    }
    json["ways"].push_back(std::move(one));
  }
  return json;
}

std::string SiteReportText(const SiteReport& r) {
  SiteSteps predicted = r.plan.ways[size_t(r.done.way)].steps;
  predicted.load_ms -= r.process_ms;  // as the clock measures
  const SiteSteps& measured = r.done.steps;
  Rows rows{{"step", "predicted", "measured"}};
  const auto ms = [](double value) { return value == 0 ? "-" : FormatMs(value); };
  for (const StepName& step : kSteps)
    rows.push_back({step.name, ms(predicted.*step.ms), ms(measured.*step.ms)});
  rows.push_back({"all", ms(predicted.total_ms()), ms(measured.total_ms())});
  std::string text =
      fmt::format("{}, {}\n{}", NameOf(r.done.way), HowText(r), FormatTable(rows, "lrr", "  "));
  text += fmt::format("from the program's begin to the answer: {}; the model was {}\n",
                      FormatMs(r.done.whole_ms), StartStates()[size_t(r.state)]);
  if (r.process_ms > 0)
    text += fmt::format(
        "The process's own start before that took {} in `mete profile --starts`, which all predictions below "
        "have.\n",
        FormatMs(r.process_ms));
  for (const SiteWay& way : r.plan.ways)
    if (way.candidate != r.done.way)
      text +=
          fmt::format("  {}: {}\n", NameOf(way.candidate), way.can() ? PredictedText(way) : WhyNot(r, way));
  text += TermsText(r.plan.ways[size_t(SiteCandidate::kDevice)].load_terms);
  text += r.plan.reason + ".\n";
  if (r.pool) text += PoolText(r);
  if (const SiteWay& cut = r.plan.ways[size_t(SiteCandidate::kCut)]; cut.can()) text += CutText(r, cut);
  if (!r.asked) text += "The server was not asked, as the plan is the device.\n";
  else if (r.no_server.empty())
    text += fmt::format("Asked first: connected in {}, round trip {}.\n", FormatMs(r.connect_ms),
                        FormatMs(r.round_trip_ms));
  if (!r.measured.empty())
    text += fmt::format(
        "Measured first, as nothing was kept: {}. The next run begins with what is kept now.\n", r.measured);
  return text;
}

}  // namespace mete::cli
