#include "energy_choice.h"

#include <fmt/format.h>

#include "base/error.h"
#include "pool_figure.h"
#include "terminal.h"

namespace mete::cli {
namespace {

Json CandidateJson(const EnergyCurves& curves, const EnergyCandidate& c) {
  Json json{{"ms", c.ms}, {"joules", c.joules}, {"clusters", Json::array()}};
  for (size_t i = 0; i < c.clusters.size(); ++i)
    json["clusters"].push_back(
        {{"cluster", curves.clusters[i].name}, {"cores", c.clusters[i].cores}, {"khz", c.clusters[i].khz}});
  return json;
}

Json ChoiceJson(const EnergyCurves& curves, const ModelWork& work, const EnergyChoice& choice,
                const ModelFlags& flags) {
  Json json{{"model", flags.model},
            {"machine", curves.machine},
            {"objective", flags.objective},
            {"source", curves.source},
            {"meets", choice.meets},
            {"reason", choice.reason},
            {"choice", CandidateJson(curves, choice.best)},
            {"fastest", CandidateJson(curves, choice.fastest)},
            {"runners_up", Json::array()},
            {"nodes", work.nodes.size()},
            {"unknown_nodes", work.unknown},
            {"int8_nodes", work.int8}};
  for (const EnergyCandidate& c : choice.runners_up) json["runners_up"].push_back(CandidateJson(curves, c));
  return json;
}

std::string Caveats(const ModelWork& work) {
  std::string text;
  if (work.unknown > 0)
    text += fmt::format("; {} nodes of shapes that only the data tell are counted as nothing", work.unknown);
  if (work.int8 > 0)
    text += fmt::format("; {} nodes of 8-bit numbers are counted at the speed of f32", work.int8);
  return text;
}

}  // namespace

Objective ParseObjectiveFlag(const std::string& text) {
  try {
    return ParseObjective(text, "--objective");
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

EnergyChoice Choose(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                    const Context& context, const std::vector<int64_t>& at_khz) {
  Progress progress(context, "choosing cores and frequencies");
  return ChooseEnergy(curves, work, objective,
                      {at_khz, context.cancel, [&](int done, int all) { progress.Update(done, all); }});
}

void PrintEnergyChoice(const EnergyCurves& curves, const ModelWork& work, const EnergyChoice& choice,
                       const ModelFlags& flags, const Context& context) {
  if (context.json) return PrintJson(ChoiceJson(curves, work, choice, flags));
  const Style style = StyleOf(1);
  PrintText(fmt::format("{}{}{} on {}, for {}:\n  {}\n  {}, {}: {}\n", style.bold, flags.model, style.reset,
                        curves.machine, flags.objective, ToText(curves, choice.best),
                        FormatMs(choice.best.ms), JoulesText(choice.best.joules), choice.reason));
  Rows rows{{"latency", "energy", "cores"}};
  const auto add = [&](const EnergyCandidate& c, const char* why) {
    rows.push_back({FormatMs(c.ms), JoulesText(c.joules), ToText(curves, c) + why});
  };
  for (const EnergyCandidate& c : choice.runners_up) add(c, "");
  if (choice.fastest.ms < choice.best.ms) add(choice.fastest, " (the fastest)");
  fmt::print("other cores, each set at its best\n{}\n", FormatTable(rows, "rrw", "  "));
  PrintText(fmt::format("These are estimates: {}{}.", curves.source, Caveats(work)));
}

}  // namespace mete::cli
