// mete profile --processors.
#include <fmt/format.h>

#include <algorithm>

#include "pool.h"
#include "terminal.h"

namespace mete::cli {
namespace {

void PrintLinks(const std::vector<LinkFigures>& links) {
  Rows rows{{"link to", "round trip", "a message", "to it", "from it", "to it, both computing", "from it"}};
  for (const LinkFigures& l : links) {
    const auto rate = [](double mbit) { return fmt::format("{:.1f} Mb/s", mbit); };
    rows.push_back({l.processor, FormatMs(l.round_trip_us * 1e-3), FormatMs(l.message_us * 1e-3),
                    rate(l.up_mbit_per_s), rate(l.down_mbit_per_s), rate(l.busy_up_mbit_per_s),
                    rate(l.busy_down_mbit_per_s)});
  }
  if (rows.size() > 1) fmt::print("{}", FormatTable(rows, "lrrrrrr", "  "));
}

void PrintSizes(const std::vector<LinkFigures>& links) {
  Rows rows{{"link to", "a message of", "to it", "from it", "to it, both computing", "from it"}};
  for (const LinkFigures& link : links)
    for (const LinkMessage& t : link.sizes)
      rows.push_back({&t == link.sizes.data() ? link.processor : "", FormatBytes(t.bytes),
                      FormatMs(t.up_us * 1e-3), FormatMs(t.down_us * 1e-3), FormatMs(t.busy_up_us * 1e-3),
                      FormatMs(t.busy_down_us * 1e-3)});
  if (rows.size() > 1) fmt::print("{}", FormatTable(rows, "lrrrrr", "  "));
}

void PrintFigures(const PoolFigures& figures, const std::string& model) {
  PrintText(fmt::format(
      "{}: layers and links measured in {:.1f} s, {:.1f} s of it choosing kernels and preparing; kept in {}",
      model, figures.seconds, figures.prepare_seconds, figures.path));
  PrintLinks(figures.links);
  Rows rows{{"processor", "all layers"}};
  for (size_t p = 0; p < figures.processors.size(); ++p)
    rows.push_back({figures.processors[p], FormatMs(figures.layers_us[p] * 1e-3)});
  if (std::any_of(figures.slowed.begin(), figures.slowed.end(), [](double by) { return by > 1; })) {
    rows[0].push_back("while the others compute");
    for (size_t p = 0; p < figures.processors.size(); ++p)
      rows[p + 1].push_back(FormatMs(figures.layers_us[p] * figures.slowed[p] * 1e-3));
  }
  fmt::print("{}", FormatTable(rows, rows[0].size() > 2 ? "lrr" : "lr", "  "));
  for (const PoolFigures& several : figures.as_several)
    PrintFigures(several, model + ", its cores as processors");
}

Json FiguresJson(const PoolFigures& figures) {
  Json json = Json::parse(figures.json);
  for (const PoolFigures& several : figures.as_several) json["as_several"] = FiguresJson(several);
  return json;
}

void PrintLinksAlone(const PoolFigures& figures, const Context& context) {
  if (figures.links.empty())
    PrintNote(context, "the file has no device but this one: there are no links to measure");
  if (context.json) {
    Json json{{"seconds", figures.seconds}, {"links", Json::parse(figures.json)}};
    for (size_t i = 0; i < figures.links.size(); ++i)
      json["links"][i]["processor"] = figures.links[i].processor;
    return PrintJson(json);
  }
  PrintText(
      fmt::format("links measured in {:.1f} s; mete profile MODEL --processors FILE measures them with a "
                  "model's layers, and keeps both",
                  figures.seconds));
  PrintLinks(figures.links);
  fmt::print("\n");
  PrintSizes(figures.links);
}

// Calls `measure` with options that show its progress until it returns.
template <class F>
PoolFigures Measuring(const ModelFlags& flags, const Context& context, const F& measure) {
  PoolOptions options = PoolOptionsOf(flags, context);
  Progress progress(context, "measuring");
  options.progress = [&](const std::string& what, int64_t done, int64_t all) {
    progress.SetLabel(what);
    progress.Update(int(done), int(all));
  };
  return measure(options);
}

}  // namespace

void ProfileOnPool(const std::vector<std::string>& models, const Pool& pool, const ModelFlags& session,
                   const Context& context) {
  if (models.empty())
    return PrintLinksAlone(
        Measuring(session, context, [&](const PoolOptions& options) { return pool.MeasureLinks(options); }),
        context);
  Json json = Json::array();
  for (const std::string& name : models) {
    ModelFlags flags = session;
    flags.model = name;
    const Model model = LoadModel(flags, context);
    const PoolFigures figures =
        Measuring(session, context, [&](const PoolOptions& options) { return pool.Measure(model, options); });
    if (context.json) json.push_back(FiguresJson(figures));
    else PrintFigures(figures, name);
  }
  if (context.json) PrintJson(json);
}

}  // namespace mete::cli
