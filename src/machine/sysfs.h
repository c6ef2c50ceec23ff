// Small text files as the kernel shows them in /proc and /sys, below a root folder. A missing file is read as
// nothing; a file with an invalid content is read as nothing too, with a line in the notes.
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

  bool is_host() const { return root_ == "/"; }  // false: a recorded tree

  // Paths are relative to the root: "sys/devices/system/cpu/online".
  bool Exists(const std::string& path) const;
  bool Readable(const std::string& path) const;  // the file can be read and is not empty
  // Returns whether the file's mode lets its owner write it (access() would always allow root).
  bool MayBeWritten(const std::string& path) const;
  std::string PathOf(const std::string& path) const { return root_ + path; }
  std::vector<std::string> Folder(const std::string& path) const;  // the file names, cpu2 before cpu10

  std::optional<std::string> Line(const std::string& path);              // the first line, trimmed
  std::optional<int64_t> Number(const std::string& path, int64_t most);  // 0 to most
  std::optional<int64_t> Size(const std::string& path);                  // "48K", "30M" as bytes
  std::optional<std::vector<int>> Cores(const std::string& path);        // "0-3,5"
  // the lines "key : value" of the file
  std::vector<std::pair<std::string, std::string>> Fields(const std::string& path);
  // the value of the first line with that key; "" if there is none
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
