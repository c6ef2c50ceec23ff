#include "on_command.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "base/json.h"
#include "output_folder.h"
#include "release_files.h"

namespace mete::cli {
namespace {

// Runs of one command. This value is a guess: larger than needed, and the answer stays at some MiB.
constexpr int kMostRuns = 1 << 20;

void Answer(const Json& json) {
  fmt::print("{}\n", JsonText(json, -1));
  std::fflush(stdout);
}

int CountOf(const Json& command, const char* key) {
  const int count = command.value(key, 0);
  if (count < 0 || count > kMostRuns)
    throw UsageError(
        fmt::format("[--on-command] '{}' out of range; got {}, expected 0 to {}", key, count, kMostRuns));
  return count;
}

Json Time(Runner& runner, const Json& command, const Context& context) {
  const int warm = CountOf(command, "warm"), runs = CountOf(command, "runs");
  for (int i = 0; i < warm; ++i) runner.RunMs();
  std::vector<int64_t> ns(size_t(runs), 0);
  for (int64_t& t : ns) t = int64_t(runner.RunMs() * 1e6);
  CheckCancelled(context);
  return {{"ns", ns}};
}

Json Save(Runner& runner, const Json& command) {
  runner.RunMs();
  OutputFolder folder(command.at("folder").get<std::string>());
  for (size_t i = 0; i < runner.results().size(); ++i)
    folder.Add(fmt::format("{}", i), runner.results()[i].view());
  return {{"files", folder.Commit()}};
}

Json Release() {
  ReleaseMappedFiles();
  return {{"released", true}};
}

Json AnswerTo(Runner& runner, const std::string& line, const Context& context) {
  try {
    const Json command = ParseJson(line, "--on-command");
    const std::string what = command.at("do");
    if (what == "time") return Time(runner, command, context);
    if (what == "save") return Save(runner, command);
    if (what == "release") return Release();
    throw UsageError(
        fmt::format("[--on-command] unknown command; got '{}', expected time, save or release", what));
  } catch (const Json::exception& e) {
    throw UsageError(
        fmt::format("[--on-command] not a command; got '{}': {}", line.substr(0, 200), e.what()));
  }
}

}  // namespace

int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t StatusKib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != field) continue;
    int64_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

void Obey(Session& session, Runner& runner, const ProgramStart& start, const Json& settings,
          const Context& context) {
  Answer({{"engine", "mete"},
          {"version", METE_VERSION},
          {"settings", settings},
          {"ready_ns", start.ready_ns},
          {"read_ns", start.read_ns},
          {"loaded_ns", start.loaded_ns},
          {"answered_ns", start.answered_ns},
          {"ready_kib", start.ready_kib}});
  for (std::string line; std::getline(std::cin, line);) {
    session.Settle();
    Answer(AnswerTo(runner, line, context));
  }
}

}  // namespace mete::cli
