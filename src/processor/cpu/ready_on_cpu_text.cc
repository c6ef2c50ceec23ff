// What a session on a CPU says about itself, for people.
#include <fmt/format.h>

#include <algorithm>

#include "base/table.h"
#include "processor/cpu/ready_on_cpu.h"

namespace mete {
namespace {

// Why the threads run what they run, in a line.
std::string ReasonOf(const ThreadPlan& plan) {
  if (plan.steps.empty()) return "nothing to do";
  const auto predicted = [](const Step& s) { return s.predicted_us > 0; };
  const auto computes = std::find_if(plan.steps.begin(), plan.steps.end(), predicted);
  if (computes == plan.steps.end() || plan.threads == 1)
    return (computes == plan.steps.end() ? plan.steps[0] : *computes).reason;
  const auto divided = [](const Step& s) { return s.predicted_us > 0 && s.threads > 1; };
  return fmt::format(
      "by the profile of this machine {} of {} nodes that compute are divided, each over its own number "
      "of threads",
      std::count_if(plan.steps.begin(), plan.steps.end(), divided),
      std::count_if(plan.steps.begin(), plan.steps.end(), predicted));
}

}  // namespace

std::string ReadyOnCpu::WholeRunText() const {
  std::lock_guard lock(mutex_);  // runs change it
  const std::string text = executor_.whole_run().text();
  return text.empty() ? "" : "whole runs: " + text + "\n";
}

std::vector<std::string> ReadyOnCpu::TunerNotes() const {
  std::vector<std::string> notes;
  if (!tuner_) return notes;
  std::lock_guard lock(mutex_);
  if (!tuner_->note().empty()) notes.push_back(tuner_->note());
  if (!to_measure_->problem().empty()) notes.push_back(to_measure_->problem());
  return notes;
}

std::string ReadyOnCpu::TuningText() const {
  if (!tuner_) return "";
  std::lock_guard lock(mutex_);  // runs change it
  std::string text = fmt::format("tuned: {} candidates measured by this session", tuner_->measured());
  if (const int64_t left = to_measure_->left(); left > 0)
    text += fmt::format("; {} node{} still computed by estimate", left, left == 1 ? " is" : "s are");
  text += "\n";
  return tuner_->note().empty() ? text : text + tuner_->note() + "\n";
}

// The packer's text and problems change when runs with other shapes prepare nodes.
std::string ReadyOnCpu::PackerText() const {
  std::lock_guard lock(mutex_);
  return kernels_.packer().Explain();
}

std::vector<std::string> ReadyOnCpu::PackerProblems() const {
  std::lock_guard lock(mutex_);
  return kernels_.packer().problems();
}

std::string ReadyOnCpu::Explain(const Trace& trace, const DeviceLimits& limits, int columns) const {
  const std::string head = fmt::format("plan for {} on {}, {} thread{}: {}\n", graph_.name, plan_.machine,
                                       plan_.threads, plan_.threads == 1 ? "" : "s", ReasonOf(plan_)) +
                           WholeRunText() + TuningText() + PackerText();
  std::string text;
  for (const std::string& line : WrapText(head, columns)) text += line + "\n";
  text.erase(text.find_last_not_of('\n') + 2);  // one line break, and not that of the empty line behind it
  return text + ExplainTable(Steps(trace), limits, columns);
}

std::vector<std::string> ReadyOnCpu::Notes() const {
  std::vector<std::string> notes;
  if (!profile_note_.empty()) notes.push_back(profile_note_);
  if (const std::string note = shape_stats().note; !note.empty()) notes.push_back(note);
  for (const std::string& note : TunerNotes()) notes.push_back(note);
  for (const std::string& problem : PackerProblems()) notes.push_back(problem);
  for (const int core : kernels_.pool().refused_cores())
    notes.push_back(fmt::format(
        "no thread could be pinned to core {}, which went away or is not allowed; that thread runs on any",
        core));
  return notes;
}

}  // namespace mete
