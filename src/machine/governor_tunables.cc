#include "machine/governor_tunables.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string_view>

#include "base/error.h"

namespace mete {
namespace {

// per governor; this value is a guess: twice the number of Android's interactive, which has the most
constexpr size_t kMostTunables = 64;
constexpr size_t kMostName = 64;  // this value is a guess
// This value is a guess: interactive's lists of frequencies and loads have a hundred characters.
constexpr size_t kMostText = 255;

const std::string kCpufreq = "sys/devices/system/cpu/cpufreq/";

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMostName &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

bool IsText(const std::string& text) {
  return !text.empty() && text.size() <= kMostText &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isprint(c); });
}

// Returns whether the first line of the file is `text`. Async-signal-safe.
bool Shows(const char* path, std::string_view text) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char now[kMostText + 1];
  const ssize_t size = read(fd, now, sizeof(now));
  close(fd);
  std::string_view line(now, size > 0 ? size_t(size) : 0);
  return line.substr(0, line.find('\n')) == text;
}

// Throws Error if the tunable could not be restored, so that its value is not lost. (The caller skips a file
// that shows nothing: it is a switch that is only written.)
void CheckTunable(const std::string& path, const std::string& name, const std::string& text, size_t others) {
  if (IsName(name) && IsText(text) && others < kMostTunables) return;
  Fail(Code::kFailedPrecondition, Printable("/" + path),
       "could not be put back, so that no frequency is changed; expected {} tunables of a governor at most, "
       "and of each {} printable "
       "characters at most; try another governor",
       kMostTunables, kMostText);
}

}  // namespace

GovernorTunables ReadGovernorTunables(Sysfs& sysfs, const std::string& policy, const std::string& governor) {
  for (const std::string& folder : {policy + "/" + governor, governor}) {
    if (!IsName(governor) || !sysfs.Exists(kCpufreq + folder)) continue;
    GovernorTunables tunables{folder, {}};
    for (const std::string& name : sysfs.Folder(kCpufreq + folder)) {
      const std::string path = kCpufreq + folder + "/" + name;
      const std::string text = sysfs.MayBeWritten(path) ? sysfs.Line(path).value_or("") : "";
      if (text.empty()) continue;
      CheckTunable(path, name, text, tunables.values.size());
      tunables.values[name] = text;
    }
    return tunables;
  }
  return {};
}

TunablesRestorer::TunablesRestorer(const std::string& root, const std::string& policy,
                                   const std::string& governor, const GovernorTunables& tunables) {
  if (tunables.values.empty()) return;
  const bool good = tunables.values.size() <= kMostTunables &&
                    (tunables.folder == policy + "/" + governor || tunables.folder == governor);
  if (!good) Invalid(policy, "not the tunables of its governor {}", governor);
  for (const auto& [name, text] : tunables.values) {
    if (!IsName(name) || !IsText(text))
      Invalid(policy, "not a tunable of its governor {}; expected a file's name and a line", governor);
    tunables_.push_back({Sysfs(root).PathOf(kCpufreq + tunables.folder + "/" + name), text});
  }
}

// Writes twice, because the kernel refuses some tunables while another still has its old value:
// conservative's down_threshold must be below up_threshold.
const char* TunablesRestorer::Do(WriteFrequencyFile write) const {
  DoOnce(write);
  return DoOnce(write);
}

const char* TunablesRestorer::DoOnce(WriteFrequencyFile write) const {
  const char* failed = nullptr;
  int error = 0;
  for (const Tunable& t : tunables_)
    if (!Shows(t.path.c_str(), t.text) && !write(t.path.c_str(), t.text.c_str()) && !failed) {
      failed = t.path.c_str();
      error = errno;
    }
  errno = error;
  return failed;
}

}  // namespace mete
