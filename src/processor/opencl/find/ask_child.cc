#include "processor/opencl/find/ask_child.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "base/child.h"
#include "base/error.h"
#include "mete/engine.h"
#include "processor/opencl/info/gpu_json.h"

namespace mete::opencl {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostOutput = 1 << 20;  // bytes; guess: an answer has 2 KB for each GPU, and 10 KB of files
constexpr size_t kMostFiles = 1000;      // guess: a process with PoCL has 70
constexpr size_t kLongestFacts = 8192;   // characters; a path has up to 4096 (PATH_MAX)
constexpr const char* kWayOut = "METE_GPU=off, which asks no driver, or another driver";

std::vector<std::string> FilesFromJson(const Json& j, const std::string& where) {
  std::vector<std::string> files;
  if (List(j, where, "files").size() > kMostFiles) Invalid(where, "more than {} files", kMostFiles);
  for (const Json& file : j) {
    if (!file.is_string() || file.get_ref<const std::string&>().size() > kLongestFacts)
      Invalid(where, "'files' has an entry that is no file");
    files.push_back(file.get<std::string>());
  }
  return files;
}

std::string EndOf(int status) {
  if (status <= 128) return fmt::format("ended with status {}", status);
  return fmt::format("was ended by signal {} ({})", status - 128, strsignal(status - 128));
}

// Returns the child's words for a message, which are its probe's name where a driver crashed without a word.
std::string Said(const std::string& output) {
  const std::string line = LastLine(output);
  return line.empty() ? "it said nothing" : fmt::format("its last words: '{}'", line);
}

std::string LastWholeLine(const std::string& output) {
  if (!output.ends_with('\n')) return "";
  const size_t before = output.rfind('\n', output.size() - 2);
  return output.substr(before == output.npos ? 0 : before + 1);
}

using Arguments = std::vector<std::string>;

GpuAnswer Ask(const std::string& program, const Arguments& arguments, const FindGpusOptions& options) {
  const Clock::Time end = options.clock.Now() + options.deadline;
  Child child(program, arguments, Child::WhenFull::kWait, options.clock, options.cancel);
  std::string output;
  child.Read(output, kMostOutput, "", end);
  if (output.size() >= kMostOutput)
    Fail(Code::kDataLoss, program, "a driver says too much: more than {} bytes; try {}", kMostOutput,
         kWayOut);
  const bool ends = child.EndsBefore(end);
  if (options.cancel && options.cancel->cancelled())
    Fail(Code::kCancelled, program, "drivers are asked no longer: the session ends");
  if (!ends)
    Fail(Code::kDeadlineExceeded, program, "a driver hangs: no answer after {:.3g} s, {}; try {}",
         std::chrono::duration<double>(options.deadline).count(), Said(output), kWayOut);
  if (child.status() != 0)
    Fail(Code::kUnavailable, program, "a driver failed: the program {}, {}; try {}", EndOf(child.status()),
         Said(output), kWayOut);
  try {
    return GpuAnswerFromJson(ParseJson(LastWholeLine(output), program), program);
  } catch (const Json::exception& e) {
    Fail(Code::kDataLoss, program, "the answer is no JSON: {}, {}", ReasonOf(e), Said(output));
  }
}

}  // namespace

Json ToJson(const GpuAnswer& answer) {
  Json j = ToJson(answer.list);
  j["failed"] = answer.failed;
  j["hung"] = answer.hung;
  j["files"] = answer.files;
  return j;
}

GpuAnswer GpuAnswerFromJson(const Json& j, const std::string& where) {
  GpuAnswer answer;
  answer.list = GpuListFromJson(j, where);
  const auto files = j.find("files"), failed = j.find("failed");
  if (files == j.end() || failed == j.end() || !failed->is_boolean())
    Invalid(where, "keys 'files' or 'failed' not found");
  answer.files = FilesFromJson(*files, where);
  answer.failed = failed->get<bool>();
  const auto hung = j.find("hung");  // children before this version do not say it
  answer.hung = hung != j.end() && hung->is_boolean() && hung->get<bool>();
  return answer;
}

GpuAnswer AskChild(const std::string& program, const std::string& driver, const FindGpusOptions& options) {
  try {
    return Ask(program, driver.empty() ? Arguments() : Arguments{"--driver", driver}, options);
  } catch (const Error& e) {
    if (e.code() == Code::kCancelled) throw;
    return {.list = {.left_out = {e.what()}}, .failed = true, .hung = e.code() == Code::kDeadlineExceeded};
  }
}

}  // namespace mete::opencl
