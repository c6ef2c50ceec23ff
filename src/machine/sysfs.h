// Small text files as the kernel shows them in /proc and /sys, below a root. A file that is missing is
// nothing; one that is there and makes no sense is nothing too, and stands in the notes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mete {

class Sysfs {
 public:
  explicit Sysfs(const std::string& root);

  bool is_host() const { return root_ == "/"; }  // else a recorded tree

  // Paths are relative to the root: "sys/devices/system/cpu/online".
  bool Exists(const std::string& path) const;
  bool Readable(const std::string& path) const;  // and not empty
  // by its owner, as its mode says: root is refused nothing
  bool MayBeWritten(const std::string& path) const;
  std::string PathOf(const std::string& path) const { return root_ + path; }
  std::vector<std::string> Folder(const std::string& path) const;  // the names in it, cpu2 before cpu10

  std::optional<std::string> Line(const std::string& path);              // the first one, without its end
  std::optional<int64_t> Number(const std::string& path, int64_t most);  // 0 to most
  std::optional<int64_t> Size(const std::string& path);                  // "48K", "30M" as bytes
  std::optional<std::vector<int>> Cores(const std::string& path);        // "0-3,5"
  // its lines "key : value"
  std::vector<std::pair<std::string, std::string>> Fields(const std::string& path);
  // the first one of that key; "" where there is none
  std::string Field(const std::string& path, const std::string& key);

  void Note(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::optional<std::string> Read(const std::string& path) const;
  void Disbelieve(const std::string& path, const std::string& text, const std::string& expected);

  std::string root_;  // ends with a slash
  std::vector<std::string> notes_;
};

}  // namespace mete
