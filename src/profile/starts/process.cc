#include "profile/starts/process.h"

#include "base/error.h"
#include "base/json.h"
#include "mete/engine.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::minutes kPatience{30};  // guess: more than compiling a GPU's kernels takes
constexpr std::chrono::seconds kEnd{10};       // guess: until a process has ended after its input
constexpr size_t kMostOutput = 1 << 20;        // guess: some thousand notes

// Returns the first whole line of `output` that is a JSON object, among notes for people; empty if there is
// none.
std::string AnswerIn(const std::string& output) {
  for (size_t begin = 0, end; (end = output.find('\n', begin)) != output.npos; begin = end + 1)
    if (output[begin] == '{') return output.substr(begin, end - begin);
  return "";
}

[[noreturn]] void FailToAnswer(const std::string& output) {
  Fail(Code::kUnavailable, "start", "the process did not answer; got '{}', expected a line of JSON",
       LastLine(output));
}

double Ms(int64_t from_ns, int64_t to_ns) { return double(to_ns - from_ns) * 1e-6; }

}  // namespace

StartSteps StepsOf(const std::string& output, int64_t spawn_ns) {
  try {
    const Json greeting = ParseJson(AnswerIn(output), "start");
    const int64_t ready = WholeNumber(greeting.at("ready_ns"), "start", "ready_ns", spawn_ns),
                  read = WholeNumber(greeting.at("read_ns"), "start", "read_ns", ready),
                  loaded = WholeNumber(greeting.at("loaded_ns"), "start", "loaded_ns", read),
                  answered = WholeNumber(greeting.at("answered_ns"), "start", "answered_ns", loaded);
    return {Ms(spawn_ns, ready), Ms(ready, read), Ms(read, loaded), Ms(loaded, answered)};
  } catch (const Json::exception&) {
    FailToAnswer(output);
  }
}

StartedProcess::StartedProcess(const StartCommand& command, const CancelToken* cancel)
    : cancel_(cancel),
      spawn_ns_(NowNs()),
      child_(command.program, command.arguments, Child::WhenFull::kWait, Clock::Steady(), cancel,
             {.variables = command.variables, .has_input = true}),
      steps_(StepsOf(ReadAnswer(), spawn_ns_)) {}

StartedProcess::~StartedProcess() {
  child_.CloseInput();
  child_.EndsBefore(Clock::Steady().Now() + kEnd);
}

double StartedProcess::RunMs() {
  const int64_t start_ns = NowNs();
  Ask(R"({"do": "time", "warm": 0, "runs": 1})");
  return Ms(start_ns, NowNs());
}

void StartedProcess::Release() { Ask(R"({"do": "release"})"); }

std::string StartedProcess::Ask(const std::string& command) {
  child_.Write(command + "\n");  // a process that has ended shows by its answer
  return ReadAnswer();
}

std::string StartedProcess::ReadAnswer() {
  const Clock::Time deadline = Clock::Steady().Now() + kPatience;
  std::string output;
  while (AnswerIn(output).empty()) {
    const size_t before = output.size();
    std::string more;
    child_.Read(more, kMostOutput - output.size(), "\n", deadline);
    output += more;
    if (cancel_ && cancel_->cancelled()) Fail(Code::kCancelled, "start", "cancelled");
    if (output.size() == before) FailToAnswer(output);
  }
  return output;
}

}  // namespace mete
