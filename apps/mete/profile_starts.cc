#include "profile_starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/json.h"
#include "checks.h"
#include "mete/device.h"
#include "model_flags.h"
#include "pool.h"
#include "processor/cpu/stored_profile.h"
#include "processor/opencl/find/find_gpus.h"
#include "profile/starts/measure.h"
#include "profile/starts/stored_starts.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr const char* kGroup = "Starts";
constexpr size_t kMostNamed = 4;  // guess: of shared files in the text; --json has all

struct StateText {
  const char *name, *title;
};
constexpr StateText kStates[] = {{"resident", "resident"},
                                 {"evicted", "evicted"},
                                 {"killed", "killed, files in memory"},
                                 {"cold", "killed, cold"},
                                 {"first", "first ever, cold"},
                                 {"without_weights", "killed, no packed weights"},
                                 {"without_timings", "killed, no timings"},
                                 {"without_programs", "killed, no GPU programs"}};

const char* TitleOf(const std::string& name) {
  const auto is = [&](const StateText& s) { return name == s.name; };
  return std::find_if(std::begin(kStates), std::end(kStates), is)->title;
}

// Returns the words that decide about a start, which are also a part of the name of what is kept.
std::vector<std::string> SettingsOf(const ProfileStartsFlags& flags) {
  std::vector<std::string> words;
  for (const std::string& shape : flags.shapes) words.insert(words.end(), {"--shape", shape});
  if (flags.threads > 0) words.insert(words.end(), {"--threads", std::to_string(flags.threads)});
  const std::vector<std::string> pool = TimedWords({.processors = flags.processors});
  words.insert(words.end(), pool.begin(), pool.end());
  return words;
}

std::vector<std::string> FilesOf(const ProfileStartsFlags& flags) {
  std::vector<std::string> files{std::filesystem::absolute(flags.model).string()};
  if (!flags.weights.empty()) files.push_back(std::filesystem::absolute(flags.weights).string());
  return files;
}

std::vector<std::string> WordsOf(const ProfileStartsFlags& flags, const std::vector<std::string>& files) {
  std::vector<std::string> words{"bench", files[0], "--on-command", "--cache-weights"};
  if (files.size() > 1) words.insert(words.end(), {"--weights", files[1]});
  const std::vector<std::string> settings = SettingsOf(flags);
  words.insert(words.end(), settings.begin(), settings.end());
  return words;
}

// The model is let go of before anything is measured, because what this process maps stays in memory.
void CheckModel(const ProfileStartsFlags& flags, const Context& context) {
  ModelFlags load;
  load.model = flags.model;
  load.weights = flags.weights;
  load.shapes = flags.shapes;
  LoadModel(load, context);
}

std::string MayWrite(const std::string& path) {
  std::error_code ignored;  // the check tells
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  CheckMayWrite(path);
  return path;
}

StartsMeasured Measure(const ProfileStartsFlags& flags, const std::vector<std::string>& files,
                       const Context& context) {
  Progress progress(context, "preparing");
  std::string now;
  StartsOptions options{
      .arguments = WordsOf(flags, files),
      .variables = {"METE_GPUS_PROGRAM=" + opencl::GpusProgram()},  // a copy has none beside it
      .model_files = files,
      .cache_folder = CacheFolder(),
      .rounds = flags.rounds,
      .cancel = context.cancel};
  options.progress = [&](const std::string& state, int done, int all) {
    if (state != now) progress.SetLabel(state);
    now = state;
    progress.Update(done, all);
  };
  return MeasureStarts(options);
}

Json StateJson(const StateStarts& state) {
  Json json{{"state", state.name},
            {"ms", Json::array()},
            {"in_memory", Json::object()},
            {"refused", state.refused}};
  for (const StartSteps& start : state.starts) json["ms"].push_back(start.ms());
  for (const FileGroup& group : state.groups)
    json["in_memory"][group.name] = {{"pages", group.in_memory()}, {"of", group.pages()}};
  if (state.refused > 0) json["why_refused"] = state.why_refused;
  return json;
}

std::vector<std::string> SharedIn(const StartsMeasured& measured) {
  std::vector<std::string> names;
  for (const FilePages& file : measured.states.front().groups.back().files) names.push_back(file.path);
  return names;
}

Json MeasuredJson(const StartsMeasured& measured, const StartCosts& costs, const std::string& path) {
  Json json{{"costs", Json::parse(ToJson(costs))}, {"seconds", measured.seconds}, {"kept", path}};
  for (const StateStarts& state : measured.states) json["states"].push_back(StateJson(state));
  json["shared"] = SharedIn(measured);
  return json;
}

std::string StepMs(double ms) { return ms > 0 ? FormatMs(ms) : ""; }

void PrintTimes(const StartsMeasured& measured) {
  Rows rows{{"state", "until the answer", "+-", "process", "load", "prepare", "answer", "starts"}};
  for (const StateText& known : kStates)
    for (const StateStarts& state : measured.states) {
      if (state.name != known.name || state.starts.empty()) continue;
      const StartCost cost = CostOf(state.starts);
      rows.push_back({known.title, FormatMs(cost.ms), FormatMs(cost.mad_ms), StepMs(cost.steps.process_ms),
                      StepMs(cost.steps.load_ms), StepMs(cost.steps.prepare_ms),
                      FormatMs(cost.steps.answer_ms), fmt::format("{}", cost.starts)});
    }
  fmt::print("{}", FormatTable(rows, "lrrrrrrr", "  "));
}

void PrintPages(const StartsMeasured& measured) {
  Rows rows{{"pages in memory before it", "model", "kept", "program", "shared"}};
  for (const StateText& known : kStates)
    for (const StateStarts& state : measured.states) {
      if (state.name != known.name) continue;
      std::vector<std::string> row{known.title};
      for (const FileGroup& group : state.groups)
        row.push_back(fmt::format("{} of {}", group.in_memory(), group.pages()));
      rows.push_back(std::move(row));
    }
  fmt::print("\n{}", FormatTable(rows, "lrrrr", "  "));
}

void PrintShared(const std::vector<std::string>& shared) {
  std::string names;
  for (size_t i = 0; i < std::min(shared.size(), kMostNamed); ++i)
    names += (i > 0 ? ", " : "") + std::filesystem::path(shared[i]).filename().string();
  if (shared.size() > kMostNamed) names += fmt::format(" and {} more", shared.size() - kMostNamed);
  fmt::print("\n");
  PrintText(fmt::format(
      "kept: timings, packed weights and GPU programs. shared: files that other processes map too, so "
      "that they stay in memory, or of which the kernel does not tell: {}.",
      shared.empty() ? "none" : names));
}

void PrintMeasured(const ProfileStartsFlags& flags, const StartsMeasured& measured, const std::string& path) {
  PrintText(fmt::format("{}: {} starts of each state, in turns, measured in {:.0f} s; kept in {}",
                        flags.model, flags.rounds, measured.seconds, path));
  PrintTimes(measured);
  PrintPages(measured);
  PrintShared(SharedIn(measured));
}

void PrintRefused(const StartsMeasured& measured, const Context& context) {
  for (const StateStarts& state : measured.states)
    if (state.refused > 0)
      PrintNote(context,
                fmt::format("not called '{}', {} of {} times: {}", TitleOf(state.name), state.refused,
                            state.refused + int(state.starts.size()), state.why_refused));
}

}  // namespace

CLI::Option* AddProfileStartsFlags(CLI::App& command, ProfileStartsFlags& flags) {
  CLI::Option* starts =
      command
          .add_option(
              "--starts", flags.model,
              "measure instead what a start of this model costs: resident, evicted, killed, cold, first ever")
          ->type_name("MODEL")
          ->group(kGroup);
  command.add_option("--weights", flags.weights, "weights of a Caffe network")
      ->type_name("FILE")
      ->needs(starts)
      ->group(kGroup);
  command.add_option("--shape", flags.shapes, "as --shape of run")
      ->type_name("SHAPE")
      ->allow_extra_args(false)
      ->needs(starts)
      ->group(kGroup);
  command.add_option("--threads", flags.threads, "as --threads of run")
      ->type_name("N")
      ->check(Between(1, 1024))
      ->needs(starts)
      ->group(kGroup);
  command.add_option("--rounds", flags.rounds, "starts in each state")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->capture_default_str()
      ->needs(starts)
      ->group(kGroup);
  return starts;
}

void ProfileStarts(const ProfileStartsFlags& flags, const Context& context) {
  CheckModel(flags, context);
  const std::vector<std::string> files = FilesOf(flags);
  const std::vector<std::string> of_pool = FilesOf(PoolFlags{.processors = flags.processors});
  std::vector<std::string> named = files;
  named.insert(named.end(), of_pool.begin(), of_pool.end());
  const std::string path =
      MayWrite(StartCostsPath(CacheFolder(), KeyOf(ReadMachine()), named, SettingsOf(flags)));
  const StartsMeasured measured = Measure(flags, files, context);
  const StartCosts costs = CostsOf(measured);
  StoreStartCosts(costs, path);
  if (context.json) PrintJson(MeasuredJson(measured, costs, path));
  else PrintMeasured(flags, measured, path);
  PrintRefused(measured, context);
}

}  // namespace mete::cli
