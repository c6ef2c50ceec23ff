#include "processor/opencl/probe/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

struct NamedProbe {
  const char* name;
  void (*run)(const Device& device, ProbeFacts& facts);
};

// What decides whether the device is used comes first, for the case that time runs out.
constexpr NamedProbe kProbes[] = {
    {"f32", ProbeF32},
    {"halves in memory", ProbeHalfStorage},
    {"launches", ProbeLaunches},
    {"maps", ProbeMaps},
    {"shared memory", ProbeSharedMemory},
    {"f16", ProbeF16},
    {"sums of products of 8 bits", ProbeDot8},
    {"peak in f32", ProbePeakF32},
    {"peak in f16", ProbePeakF16},
};

constexpr size_t kLongestProblem = 300;  // characters; guess: the first errors of a compiler

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kLongestProblem ? text : text.substr(0, kLongestProblem) + " ...";
}

}  // namespace

ProbeFacts Probe(const Device& device, const ProbeOptions& options) {
  ProbeFacts facts;
  const Clock::Time end = options.clock.Now() + options.budget;
  for (const NamedProbe& probe : kProbes) {
    if (options.clock.Now() >= end) {
      facts.out_of_time = true;
      facts.problems.push_back(fmt::format("{}: no time was left for it", probe.name));
      continue;
    }
    options.started(probe.name);
    try {
      probe.run(device, facts);
    } catch (const Error& e) {
      facts.problems.push_back(OneLine(fmt::format("{}: {}", probe.name, e.what())));
    }
  }
  return facts;
}

}  // namespace mete::opencl
