#include "machine/frequency_lock.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mete frequency lock 2";
// This value is a guess: a policy takes 150 bytes, with tunables 1 KiB, and a machine has some hundred at
// most.
constexpr size_t kMostBytes = 1 << 20;

// The content of the lock file.
struct Left {
  std::string boot;
  int64_t pid = 0;  // only for messages: a process number of another container may mean nothing here
  FrequencySettings settings;
};

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string ThisBoot() { return FirstLine("/proc/sys/kernel/random/boot_id"); }

std::string ToText(const Left& left) {
  Json j{{"format", kFormat}, {"boot_id", left.boot}, {"pid", left.pid}};
  for (const auto& [name, s] : left.settings)
    j["policies"][name] = {{"governor", s.governor},
                           {"min_khz", s.min_khz},
                           {"max_khz", s.max_khz},
                           {"speed_khz", s.speed_khz},
                           {"tunables_in", s.tunables.folder},
                           {"tunables", s.tunables.values}};
  return JsonText(j, 1) + "\n";
}

std::vector<FrequencyRestorer> RestorersOf(const std::string& root, const FrequencySettings& settings) {
  std::vector<FrequencyRestorer> all;
  for (const auto& [name, setting] : settings) all.emplace_back(root, name, setting);
  return all;
}

Left Parse(const std::string& path, const std::string& text) {
  try {
    const Json j = ParseJson(text, "lock");
    if (j.at("format") != kFormat) throw Error(Code::kDataLoss, "another format");
    Left left{j.at("boot_id"), j.at("pid"), {}};
    for (const auto& [name, s] : j.at("policies").items())
      left.settings[name] = {s.at("governor"),
                             s.at("min_khz"),
                             s.at("max_khz"),
                             s.at("speed_khz"),
                             {s.at("tunables_in"), s.at("tunables")}};
    RestorersOf("/", left.settings);  // throws for settings that no policy can have
    return left;
  } catch (const std::exception& e) {
    Fail(Code::kDataLoss, path,
         "the file that says how frequencies were set before cannot be understood ({}); try to set them back "
         "by "
         "hand, and remove it",
         Printable(std::string(e.what()).substr(0, 100)));
  }
}

// Returns the boot id in a file that may be damaged or of another format: the text after "boot_id"; "" if
// there is no complete id.
std::string BootIn(const std::string& text) {
  constexpr size_t kIdLength = 36;  // the boot id is a UUID
  const std::string name = "\"boot_id\"";
  const size_t at = text.find(name), begin = at == text.npos ? at : text.find('"', at + name.size());
  const size_t end = begin == text.npos ? begin : text.find('"', begin + 1);
  return end != text.npos && end - begin - 1 == kIdLength ? text.substr(begin + 1, kIdLength) : "";
}

// Reads the lock file; nothing if there is none. If the file is from before the last boot, only the boot id
// is read, so that the file can be removed whatever its content is.
std::optional<Left> ReadLock(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  if (!file)
    Fail(Code::kUnavailable, path, "what was set before cannot be read; {}; try as the user who owns it",
         std::strerror(errno));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(file.gcount()));
  if (const std::string boot = BootIn(text); !boot.empty() && boot != ThisBoot()) return Left{boot, 0, {}};
  if (text.size() > kMostBytes)
    Fail(Code::kDataLoss, path, "too long for a lock of frequencies; expected {} bytes at most", kMostBytes);
  return Parse(path, text);
}

// Formats settings for messages: "policy0 ondemand, 408000 to 1416000 kHz"; at most kMostPolicies policies.
std::string ToText(const FrequencySettings& settings) {
  // This value is a guess: the clusters of a phone; machines with more policies have the same setting for
  // all.
  constexpr size_t kMostPolicies = 4;
  std::vector<std::string> texts;
  for (const auto& [name, s] : settings)
    if (texts.size() < kMostPolicies)
      texts.push_back(fmt::format("{} {}, {} to {} kHz", name, s.governor, s.min_khz, s.max_khz));
  if (settings.size() > kMostPolicies)
    texts.push_back(fmt::format("{} more", settings.size() - kMostPolicies));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Restores the settings in `left`. Returns one line that tells what was done; "" if there was nothing to
// restore. Throws Error if restoring is not allowed.
std::string PutBackLeft(const std::string& root, const std::string& path, const Left& left,
                        WriteFrequencyFile write) {
  if (left.boot != ThisBoot()) {  // a reboot has reset the settings
    unlink(path.c_str());
    return "";
  }
  const std::vector<FrequencyRestorer> restorers = RestorersOf(root, left.settings);
  if (const char* failed = PutBackAll(restorers, path.c_str(), write))
    Fail(Code::kUnavailable, failed,
         "cannot put back the frequency that process {}, which is gone, has changed; {}; expected as before: "
         "{}; try 'METE_CACHE={} mete machine' as root, or write that by hand into scaling_governor, "
         "scaling_min_freq and "
         "scaling_max_freq, and remove {}",
         left.pid, std::strerror(errno), ToText(left.settings),
         std::filesystem::path(path).parent_path().string(), path);
  return fmt::format("process {} did not put the frequencies back; that was done now: {}", left.pid,
                     ToText(left.settings));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    Check(fd_ >= 0, "cannot be opened");
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void Lock() const { Check(flock(fd_, LOCK_EX) == 0, "cannot be locked"); }
  bool TryLock() const {  // false if another descriptor holds the lock
    const bool locked = flock(fd_, LOCK_EX | LOCK_NB) == 0;
    Check(locked || errno == EWOULDBLOCK, "cannot be locked");
    return locked;
  }
  void Sync() const { Check(fsync(fd_) == 0, "cannot be brought to the disk"); }
  void Write(const std::string& text) const {
    Check(write(fd_, text.data(), text.size()) == ssize_t(text.size()), "cannot be written");
  }

 private:
  void Check(bool good, const char* what) const {
    if (!good)
      Fail(Code::kUnavailable, path_,
           "{}; {}; frequencies are not changed without it; try another folder in METE_CACHE", what,
           std::strerror(errno));
  }
  const std::string path_;
  const int fd_;
};

// Serializes processes that start at the same time, so that the second one finds the lock of the first.
class Guard {
 public:
  explicit Guard(const std::string& lock) : file_(lock + ".guard", O_CREAT | O_RDONLY) { file_.Lock(); }

 private:
  const Descriptor file_;
};

// Returns whether the process that wrote the lock file lives, because it holds the flock(). Any other process
// holds the flock() only while it has the guard.
bool IsHeld(const std::string& lock) try {
  return !Descriptor(lock, O_RDONLY).TryLock();
} catch (const Error&) {
  if (access(lock.c_str(), F_OK) == 0) throw;
  return false;  // there is no lock file, or its owner has just removed it
}

std::string LockIn(const std::string& folder) { return folder + "/frequency.lock"; }

}  // namespace

std::string MendFrequencies(const std::string& root, const std::string& folder, WriteFrequencyFile write) {
  const std::string path = LockIn(folder);
  if (folder.empty() || access(path.c_str(), F_OK) != 0) return "";
  try {
    const Guard guard(path);
    if (IsHeld(path)) return "";
    const std::optional<Left> left = ReadLock(path);
    return left ? PutBackLeft(root, path, *left, write) : "";
  } catch (const Error& e) {
    return e.what();
  }
}

FrequencyLock::FrequencyLock(const std::string& root, const std::string& folder, WriteFrequencyFile write,
                             const ReadSettings& read) {
  if (folder.empty())
    Fail(Code::kFailedPrecondition, "frequency",
         "no folder for the note of what is changed; try METE_CACHE, XDG_CACHE_HOME or HOME");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path_ = LockIn(folder);
  const Guard guard(path_);
  TakeOver(root, write);
  settings_ = read();
  restorers_ = RestorersOf(root, settings_);
  Create();
}

void FrequencyLock::TakeOver(const std::string& root, WriteFrequencyFile write) {
  const bool is_held = IsHeld(path_);
  const std::optional<Left> left = ReadLock(path_);
  if (!left) return;
  if (is_held)
    Fail(Code::kFailedPrecondition, path_,
         "process {} has set the frequencies and still runs; try again when it is done", left->pid);
  if (std::string note = PutBackLeft(root, path_, *left, write); !note.empty())
    notes_.push_back(std::move(note));
}

// Writes a temporary file and renames it, so that the lock file is complete and held from its first moment.
void FrequencyLock::Create() {
  const std::string temporary = fmt::format("{}.{}", path_, getpid());
  const auto file = std::make_shared<const Descriptor>(temporary, O_CREAT | O_TRUNC | O_WRONLY);
  file->Lock();
  file->Write(ToText({ThisBoot(), getpid(), settings_}));
  file->Sync();
  if (rename(temporary.c_str(), path_.c_str()) != 0)
    Fail(Code::kUnavailable, path_, "cannot be written; {}; frequencies are not changed without it",
         std::strerror(errno));
  Descriptor(std::filesystem::path(path_).parent_path().string(), O_RDONLY | O_DIRECTORY).Sync();
  held_ = file;
}

}  // namespace mete
