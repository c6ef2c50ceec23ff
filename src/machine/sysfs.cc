#include "machine/sysfs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "machine/core_list.h"
#include "machine/machine.h"

namespace mete {
namespace fs = std::filesystem;

namespace {

// proc/cpuinfo has less than 1 KiB per core on Arm, where the whole file is needed
constexpr size_t kMostBytes = size_t{kMostCores} << 10;
// per folder: sys/devices/system/cpu has the cores and some other entries
constexpr size_t kMostEntries = 2 * kMostCores;
constexpr size_t kMostNotes = 64;                      // a damaged tree has a note for every file
constexpr int64_t kMostCacheBytes = int64_t{1} << 40;  // a guess: a thousand times the largest of today

std::optional<int64_t> ParseNumber(std::string_view text, int64_t most) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0 || n > most) return std::nullopt;
  return n;
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

// Orders names so that policy4 is before policy10.
bool NaturallyLess(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& s) {
    return std::tuple(s.substr(0, s.find_first_of("0123456789")), s.size(), s);
  };
  return key(a) < key(b);
}

}  // namespace

Sysfs::Sysfs(const std::string& root) : root_(root.empty() || root.back() == '/' ? root : root + "/") {
  if (root_.empty()) root_ = "./";
}

bool Sysfs::Exists(const std::string& path) const {
  std::error_code ignored;
  return fs::exists(root_ + path, ignored);
}

bool Sysfs::Readable(const std::string& path) const {
  const auto text = Read(path);
  return text && !text->empty();
}

bool Sysfs::MayBeWritten(const std::string& path) const {
  std::error_code ignored;
  const fs::file_status status = fs::status(root_ + path, ignored);
  return fs::is_regular_file(status) && (status.permissions() & fs::perms::owner_write) != fs::perms::none;
}

std::vector<std::string> Sysfs::Folder(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(root_ + path, error), end;
       !error && at != end && names.size() < kMostEntries; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end(), NaturallyLess);
  return names;
}

// Reads regular files only: reading a pipe in a recorded tree would block for ever.
std::optional<std::string> Sysfs::Read(const std::string& path) const {
  std::error_code ignored;
  if (!fs::is_regular_file(root_ + path, ignored)) return std::nullopt;
  std::ifstream file(root_ + path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char chunk[4096];
  while (text.size() < kMostBytes && file) {
    file.read(chunk, sizeof(chunk));
    text.append(chunk, size_t(file.gcount()));
  }
  if (file.bad()) return std::nullopt;
  return text;
}

void Sysfs::Disbelieve(const std::string& path, const std::string& text, const std::string& expected) {
  constexpr size_t kShown = 40;
  const std::string shown = text.size() > kShown ? text.substr(0, kShown) + "..." : text;
  if (notes_.size() < kMostNotes)
    Note(fmt::format("{}: not believed; got '{}', expected {}", path, Printable(shown), expected));
}

std::optional<std::string> Sysfs::Line(const std::string& path) {
  const auto text = Read(path);
  if (!text) return std::nullopt;
  return std::string(Trim(std::string_view(*text).substr(0, text->find('\n'))));
}

std::optional<int64_t> Sysfs::Number(const std::string& path, int64_t most) {
  const auto line = Line(path);
  if (!line) return std::nullopt;
  const auto n = ParseNumber(*line, most);
  if (!n) Disbelieve(path, *line, fmt::format("a number from 0 to {}", most));
  return n;
}

std::optional<int64_t> Sysfs::Size(const std::string& path) {
  const auto line = Line(path);
  if (!line) return std::nullopt;
  std::string_view digits = *line;
  int64_t unit = 1;
  if (!digits.empty()) {
    unit = digits.back() == 'K' ? 1 << 10 : digits.back() == 'M' ? 1 << 20 : 1;
    if (unit > 1) digits.remove_suffix(1);
  }
  const auto n = ParseNumber(digits, kMostCacheBytes / unit);
  if (!n) {
    Disbelieve(path, *line, "a size such as 512K or 8M");
    return std::nullopt;
  }
  return *n * unit;
}

std::optional<std::vector<int>> Sysfs::Cores(const std::string& path) {
  const auto line = Line(path);
  if (!line) return std::nullopt;
  auto cores = ParseCoreList(*line);
  if (!cores) Disbelieve(path, *line, "a list of cores such as 0-3,5");
  return cores;
}

std::vector<std::pair<std::string, std::string>> Sysfs::Fields(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> fields;
  std::istringstream in(Read(path).value_or(""));
  for (std::string text; std::getline(in, text);) {
    const std::string_view line = text;
    const size_t colon = line.find(':');
    if (colon != line.npos) fields.emplace_back(Trim(line.substr(0, colon)), Trim(line.substr(colon + 1)));
  }
  return fields;
}

std::string Sysfs::Field(const std::string& path, const std::string& key) {
  for (auto& [name, value] : Fields(path))
    if (name == key) return value;
  return "";
}

}  // namespace mete
