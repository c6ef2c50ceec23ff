#include "machine/frequency_policy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "base/error.h"

namespace mete {
namespace {

constexpr size_t kMostFrequencies = 1024;  // this value is a guess: ten times the length of drivers' lists
constexpr size_t kMostGovernor = 32;       // CPUFREQ_NAME_LEN of the kernel is 16

std::string FolderOf(const std::string& name) { return "sys/devices/system/cpu/cpufreq/" + name + "/"; }

// Returns the number at the start of a text; -1 if there is none. Async-signal-safe.
int64_t LeadingNumber(const char* text, size_t size) {
  int64_t n = -1;
  std::from_chars(text, text + size, n);
  return n;
}

// Returns the number in a file; -1 if the file cannot be read. Async-signal-safe.
int64_t NumberIn(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[32];
  const ssize_t size = read(fd, text, sizeof(text));
  close(fd);
  return size > 0 ? LeadingNumber(text, size_t(size)) : -1;
}

void MustWrite(const std::string& path, const std::string& text, WriteFrequencyFile write) {
  errno = 0;
  if (write(path.c_str(), text.c_str())) return;
  Fail(Code::kUnavailable, path, "cannot set the frequency to {}; {}; try as root", text,
       errno ? std::strerror(errno) : "refused");
}

std::string MustRead(Sysfs& sysfs, const std::string& path) {
  const auto line = sysfs.Line(path);
  if (!line || line->empty())
    Fail(Code::kUnavailable, "/" + path, "cannot be read; expected a setting of cpufreq");
  return *line;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 10 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool IsGovernor(const std::string& text) {
  return !text.empty() && text.size() <= kMostGovernor &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

bool IsPolicy(const std::string& name) {
  return name.starts_with("policy") && IsNumber(name.substr(std::strlen("policy")));
}

bool Offers(Sysfs& sysfs, const std::string& path, const std::string& word) {
  std::istringstream words(sysfs.Line(path).value_or(""));
  for (std::string w; words >> w;)
    if (w == word) return true;
  return false;
}

const FrequencySetting& Checked(const std::string& name, const FrequencySetting& s) {
  if (!IsPolicy(name))
    Invalid("cpufreq", "not a policy; got '{}', expected policy0 or the like", Printable(name.substr(0, 40)));
  const bool numbers =
      IsNumber(s.min_khz) && IsNumber(s.max_khz) && (s.speed_khz.empty() || IsNumber(s.speed_khz));
  if (!numbers || !IsGovernor(s.governor))
    Invalid(name, "not a setting of cpufreq; expected a governor and frequencies in kHz");
  return s;
}

// Sets both limits to one frequency, in the order that never has the lower limit above the upper one.
void CloseLimits(const std::string& path, int64_t khz, int64_t max_khz, WriteFrequencyFile write) {
  const char* const up[] = {"scaling_max_freq", "scaling_min_freq"};
  for (int i = 0; i < 2; ++i) MustWrite(path + up[khz > max_khz ? i : 1 - i], std::to_string(khz), write);
}

// Widens the limits as far as the frequency needs.
void OpenLimits(const std::string& path, int64_t khz, int64_t min_khz, int64_t max_khz,
                WriteFrequencyFile write) {
  if (khz > max_khz) MustWrite(path + "scaling_max_freq", std::to_string(khz), write);
  if (khz < min_khz) MustWrite(path + "scaling_min_freq", std::to_string(khz), write);
}

}  // namespace

bool WriteFrequencyFileOfKernel(const char* path, const char* text) {
  // O_TRUNC is for trees of plain files; the kernel's files ignore it.
  const int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
  if (fd < 0) return false;
  const size_t size = std::strlen(text);
  const bool written = write(fd, text, size) == ssize_t(size);
  const int error = errno;
  close(fd);
  errno = error;
  return written;
}

FrequencySetting ReadFrequencySetting(Sysfs& sysfs, const std::string& name) {
  const std::string folder = FolderOf(name);
  FrequencySetting s{MustRead(sysfs, folder + "scaling_governor"),
                     MustRead(sysfs, folder + "scaling_min_freq"),
                     MustRead(sysfs, folder + "scaling_max_freq")};
  if (s.governor == "userspace") s.speed_khz = MustRead(sysfs, folder + "scaling_setspeed");
  s.tunables = ReadGovernorTunables(sysfs, name, s.governor);
  return s;
}

std::vector<int64_t> SpreadKhz(int64_t min_khz, int64_t max_khz, int count) {
  std::vector<int64_t> list;
  if (min_khz < 1 || min_khz > max_khz || max_khz > kMostKhz) return list;
  const int64_t steps = std::clamp<int64_t>((max_khz - min_khz) / 1000, 1, std::max(count - 1, 1));
  for (int64_t i = 0; i <= steps; ++i) list.push_back(min_khz + (max_khz - min_khz) * i / steps);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<int64_t> AvailableKhz(Sysfs& sysfs, const std::string& name) {
  const std::string folder = FolderOf(name);
  std::vector<int64_t> list;
  std::istringstream words(sysfs.Line(folder + "scaling_available_frequencies").value_or(""));
  for (int64_t khz; words >> khz && list.size() < kMostFrequencies;)
    if (khz > 0 && khz <= kMostKhz) list.push_back(khz);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (!list.empty()) return list;
  return SpreadKhz(sysfs.Number(folder + "cpuinfo_min_freq", kMostKhz).value_or(0),
                   sysfs.Number(folder + "cpuinfo_max_freq", kMostKhz).value_or(0));
}

void PinFrequency(const std::string& root, const std::string& name, int64_t khz, WriteFrequencyFile write) {
  Sysfs sysfs(root);
  const std::string folder = FolderOf(name), path = sysfs.PathOf(folder);
  const int64_t min_khz = sysfs.Number(folder + "scaling_min_freq", kMostKhz).value_or(0);
  const int64_t max_khz = sysfs.Number(folder + "scaling_max_freq", kMostKhz).value_or(0);
  if (!Offers(sysfs, folder + "scaling_available_governors", "userspace"))
    return CloseLimits(path, khz, max_khz, write);
  OpenLimits(path, khz, min_khz, max_khz, write);
  if (sysfs.Line(folder + "scaling_governor") != "userspace")
    MustWrite(path + "scaling_governor", "userspace", write);
  MustWrite(path + "scaling_setspeed", std::to_string(khz), write);
}

FrequencyRestorer::FrequencyRestorer(const std::string& root, const std::string& name,
                                     const FrequencySetting& setting)
    : setting_(Checked(name, setting)), tunables_(root, name, setting.governor, setting.tunables) {
  const std::string folder = Sysfs(root).PathOf(FolderOf(name));
  governor_path_ = folder + "scaling_governor";
  speed_path_ = folder + "scaling_setspeed";
  min_path_ = folder + "scaling_min_freq";
  max_path_ = folder + "scaling_max_freq";
  max_khz_ = LeadingNumber(setting_.max_khz.data(), setting_.max_khz.size());
}

// The governor is restored first: userspace would keep its frequency as far as the restored limits allow.
const char* FrequencyRestorer::Do(WriteFrequencyFile write) const {
  const char* failed = nullptr;
  int error = 0;
  const auto put = [&](const std::string& path, const std::string& text) {
    if (!write(path.c_str(), text.c_str()) && !failed) {
      failed = path.c_str();
      error = errno;
    }
  };
  put(governor_path_, setting_.governor);
  const bool up = max_khz_ >= NumberIn(min_path_.c_str());
  if (up) put(max_path_, setting_.max_khz);
  put(min_path_, setting_.min_khz);
  if (!up) put(max_path_, setting_.max_khz);
  if (!setting_.speed_khz.empty()) put(speed_path_, setting_.speed_khz);
  if (const char* tunable = tunables_.Do(write); tunable && !failed) {
    failed = tunable;
    error = errno;
  }
  errno = error;
  return failed;
}

const char* PutBackAll(const std::vector<FrequencyRestorer>& restorers, const char* lock_path,
                       WriteFrequencyFile write) {
  const char* failed = nullptr;
  int error = 0;
  for (const FrequencyRestorer& r : restorers)
    if (const char* path = r.Do(write); path && !failed) {
      failed = path;
      error = errno;
    }
  if (!failed) unlink(lock_path);
  errno = error;
  return failed;
}

}  // namespace mete
