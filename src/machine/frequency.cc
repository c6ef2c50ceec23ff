#include "machine/frequency.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "machine/temperature.h"

namespace mete {
namespace {

std::vector<std::vector<std::string>> PoliciesOf(const std::vector<Cluster>& clusters) {
  std::vector<std::vector<std::string>> policies;
  for (const Cluster& c : clusters) {
    policies.push_back(c.frequency.policies);
    if (policies.back().empty())
      Fail(Code::kFailedPrecondition, c.name,
           "cpufreq does not show who sets this cluster's frequency; expected its policies in "
           "/sys/devices/system/cpu/cpufreq");
  }
  return policies;
}

// Returns the frequencies that all policies of a cluster can have.
std::vector<int64_t> CommonKhz(Sysfs& sysfs, const std::vector<std::string>& policies) {
  std::vector<int64_t> common = AvailableKhz(sysfs, policies.at(0));
  for (const std::string& policy : policies) {
    const std::vector<int64_t> own = AvailableKhz(sysfs, policy);
    std::erase_if(common, [&](int64_t khz) { return own.empty() || khz < own.front() || khz > own.back(); });
  }
  return common;
}

std::vector<std::vector<int64_t>> KhzOf(const std::string& root, const std::vector<Cluster>& clusters) {
  Sysfs sysfs(root);
  std::vector<std::vector<int64_t>> khz;
  for (const Cluster& c : clusters) {
    khz.push_back(CommonKhz(sysfs, c.frequency.policies));
    if (khz.back().empty())
      Fail(Code::kFailedPrecondition, c.name,
           "cpufreq does not tell which frequencies this cluster may have");
  }
  return khz;
}

// Returns why the limits in force may differ from the user's; "" if they do not.
std::string HeldDown(const std::string& root) {
  const std::string what = WhatCools(root);
  return what.empty()
             ? ""
             : fmt::format("{} holds clocks down for heat, and hides what the limits are without it", what);
}

}  // namespace

int64_t LoadedKhz(const Frequency& f) {
  return f.governor == "userspace" || f.limit_khz == 0 ? f.current_khz : f.limit_khz;
}

std::string WhyFrequenciesStay(const std::vector<Cluster>& clusters, const std::string& root) {
  for (const Cluster& c : clusters) {
    if (c.frequency.policies.empty()) return "cpufreq does not show the policies of " + c.name;
    for (const std::string& policy : c.frequency.policies) {
      const std::string folder = "/sys/devices/system/cpu/cpufreq/" + policy + "/";
      for (const char* file : {"scaling_governor", "scaling_min_freq", "scaling_max_freq"})
        if (access((root + folder + file).c_str(), W_OK) != 0)
          return fmt::format("{}{} cannot be written: {}", folder, file, std::strerror(errno));
    }
  }
  return HeldDown(root);
}

FrequencyControl::FrequencyControl(const std::vector<Cluster>& clusters, FrequencyPlaces places)
    : places_(std::move(places)),
      policies_(PoliciesOf(clusters)),
      khz_(KhzOf(places_.root, clusters)),
      lock_(places_.root, places_.folder, places_.write, [this] { return ReadSettings(); }) {
  signals_.Arm(lock_.restorers(), lock_.path(), places_.write);
}

FrequencyControl::~FrequencyControl() {
  PutBack();
  signals_.Disarm();  // while the restorers still live
}

FrequencySettings FrequencyControl::ReadSettings() const {
  Sysfs sysfs(places_.root);
  FrequencySettings settings;
  for (const auto& policies : policies_)
    for (const std::string& policy : policies) settings[policy] = ReadFrequencySetting(sysfs, policy);
  // This check comes after the reading, so that it sees heat that began before the reading.
  if (const std::string why = HeldDown(places_.root); !why.empty())
    Fail(Code::kFailedPrecondition, "frequency", "{}; try again when it has cooled down", why);
  return settings;
}

void FrequencyControl::Set(size_t cluster, int64_t khz) {
  const std::vector<int64_t>& may = khz_.at(cluster);
  if (std::find(may.begin(), may.end(), khz) == may.end())
    Invalid("frequency", "this cluster cannot have the frequency; got {} kHz, expected one of {}", khz,
            fmt::join(may, ", "));
  if (restored_) Fail(Code::kFailedPrecondition, "frequency", "the frequencies were put back for good");
  const FrequencySignals::Quiet quiet;
  if (quiet.interrupted())
    Fail(Code::kCancelled, "frequency", "interrupted; the frequencies are as they were");
  for (const std::string& policy : policies_[cluster]) PinFrequency(places_.root, policy, khz, places_.write);
}

// Restores the frequencies; returns the path of the first file that could not be written.
const char* FrequencyControl::PutBack() {
  if (!FrequencySignals::is_owner()) return nullptr;
  const FrequencySignals::Quiet quiet;
  if (quiet.put_back()) return nullptr;  // a lock file that exists now belongs to another process
  restored_ = true;
  const char* failed = PutBackAll(lock_.restorers(), lock_.path().c_str(), places_.write);
  if (!failed) quiet.SetPutBack();
  return failed;
}

void FrequencyControl::Restore() {
  if (const char* failed = PutBack())
    Fail(Code::kUnavailable, failed, "cannot put the frequency back; {}; the next start tries again",
         std::strerror(errno));
}

}  // namespace mete
