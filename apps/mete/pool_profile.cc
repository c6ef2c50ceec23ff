// mete profile --processors.
#include <fmt/format.h>

#include "engine/model.h"
#include "pool.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

void PrintLinks(const std::vector<std::string>& names, const std::vector<LinkProfile>& links) {
  Rows rows{{"link to", "round trip", "a message", "to it", "from it", "to it, both computing", "from it"}};
  for (size_t d = 1; d < links.size(); ++d) {
    const LinkProfile& l = links[d];
    const auto rate = [](double mbit) { return fmt::format("{:.1f} Mb/s", mbit); };
    rows.push_back({names[d], FormatMs(l.round_trip_us * 1e-3), FormatMs(l.message_us * 1e-3),
                    rate(l.up_mbit_per_s), rate(l.down_mbit_per_s), rate(l.busy_up_mbit_per_s),
                    rate(l.busy_down_mbit_per_s)});
  }
  if (rows.size() > 1) fmt::print("{}", FormatTable(rows, "lrrrrrr", "  "));
}

void PrintSizes(const std::vector<std::string>& names, const std::vector<LinkProfile>& links) {
  Rows rows{{"link to", "a message of", "to it", "from it", "to it, both computing", "from it"}};
  for (size_t d = 1; d < links.size(); ++d)
    for (const MessageTimes& t : links[d].sizes)
      rows.push_back({&t == links[d].sizes.data() ? names[d] : "", FormatBytes(t.bytes),
                      FormatMs(t.up_us * 1e-3), FormatMs(t.down_us * 1e-3), FormatMs(t.busy_up_us * 1e-3),
                      FormatMs(t.busy_down_us * 1e-3)});
  if (rows.size() > 1) fmt::print("{}", FormatTable(rows, "lrrrrr", "  "));
}

double AllUs(const ProcessorCosts& processor) {
  double us = 0;
  for (const LayerCost& layer : processor.layers) us += layer.us;
  return us;
}

void PrintPoolProfile(const PoolProfile& profile, const std::string& model, const std::string& kept) {
  PrintText(fmt::format(
      "{}: layers and links measured in {:.1f} s, {:.1f} s of it choosing kernels and preparing; kept in {}",
      model, profile.seconds, profile.prepare_seconds, kept));
  std::vector<std::string> names;
  for (const ProcessorCosts& processor : profile.costs.processors) names.push_back(processor.name);
  PrintLinks(names, profile.links);
  Rows rows{{"processor", "all layers"}};
  for (const ProcessorCosts& processor : profile.costs.processors)
    rows.push_back({processor.name, FormatMs(AllUs(processor) * 1e-3)});
  fmt::print("{}", FormatTable(rows, "lr", "  "));
}

void PrintLinksAlone(const std::vector<std::string>& names, const std::vector<LinkProfile>& links,
                     double seconds, const Context& context) {
  if (names.size() < 2)
    PrintNote(context, "the file has no device but this one: there are no links to measure");
  if (context.json) {
    Json json{{"seconds", seconds}, {"links", Json::array()}};
    for (size_t d = 1; d < links.size(); ++d) {
      json["links"].push_back(Json::parse(ToJson(links[d])));
      json["links"].back()["processor"] = names[d];
    }
    return PrintJson(json);
  }
  PrintText(
      fmt::format("links measured in {:.1f} s; mete profile MODEL --processors FILE measures them with a "
                  "model's layers, and keeps both",
                  seconds));
  PrintLinks(names, links);
  fmt::print("\n");
  PrintSizes(names, links);
}

// Error where a member does not answer.
OpenPool OpenAndCheck(const PoolFile& file, const ModelFlags& session, const Context& context) {
  OpenPool pool = Open(file, session, context);
  for (const auto& member : pool.members)
    if (member) member->CheckThere(std::chrono::seconds(5));
  return pool;
}

}  // namespace

void ProfileOnPool(const std::vector<std::string>& models, const std::string& path, const ModelFlags& session,
                   const Context& context) {
  CheckCores(session);
  const PoolFile file = PoolFor(path);
  auto progress = std::make_unique<Progress>(context, "measuring");
  PoolProfileOptions options{{}, context.cancel};
  options.progress = [&](const std::string& what, int done, int total) {
    if (!progress) progress = std::make_unique<Progress>(context, what);
    progress->SetLabel(what);
    progress->Update(done, total);
  };
  if (models.empty()) {
    const Stopwatch stopwatch;
    const OpenPool pool = OpenAndCheck(file, session, context);
    const std::vector<LinkProfile> links = ProfileLinks(*pool.home, PointersTo(pool.members), options);
    progress.reset();
    return PrintLinksAlone(NamesOf(file), links, stopwatch.ms() * 1e-3, context);
  }
  Json json = Json::array();
  for (const std::string& name : models) {
    ModelFlags flags = session;
    flags.model = name;
    const Model model = LoadDivisible(flags, context);
    const PoolFile able = ThoseThatCan(file, GraphOf(model), &context);
    const OpenPool pool = OpenAndCheck(able, session, context);
    const PoolProfile profile =
        ProfilePool(GraphOf(model), NamesOf(able), *pool.home, PointersTo(pool.members), options);
    progress.reset();
    const std::string kept = StorePoolProfile(profile, able);
    if (context.json) json.push_back(Json::parse(ToJson(profile)));
    else PrintPoolProfile(profile, name, kept);
  }
  if (context.json) PrintJson(json);
}

}  // namespace mete::cli
