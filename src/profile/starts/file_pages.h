// Which pages of files are in memory, and how files leave it. A start is called cold only by what this tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mete {

struct FilePages {
  std::string path;
  int64_t pages = 0;  // of the whole file
  int64_t in_memory = 0;
  // Whether the kernel told: it says of every page of a file that this user may not write that it is in
  // memory.
  bool told = true;

  bool absent() const { return told && in_memory == 0; }
};

// Returns how many of mincore()'s entries say that a page is in memory: their lowest bits.
int64_t CountInMemory(std::span<const unsigned char> vector);

// Returns the pages of a regular file. Error NOT_FOUND if it cannot be opened, UNAVAILABLE if it cannot be
// mapped.
FilePages PagesOf(const std::string& path);
std::vector<FilePages> PagesOf(const std::vector<std::string>& paths);

// Returns PagesOf(path).absent(), and ends behind the piece of 4096 pages in which the first one is in
// memory.
bool IsAbsent(const std::string& path);

// Writes the file's changes to the disk and asks the kernel to let go of its pages. Pages that a process maps
// stay, and so do those of file systems in memory. Error NOT_FOUND if the file cannot be opened.
void Evict(const std::string& path);

// Evicts until all files are absent, three times at most: the first time, pages may still wait in a core's
// list of those that were just used.
void Evict(const std::vector<std::string>& paths);

// Reads files, so that they are in memory.
void ReadThrough(const std::vector<std::string>& paths);

// Returns what keeps a start from being called cold: "net.onnx has 12 of 1200 pages in memory; ..."; empty if
// all files are absent. At most three files are named, the others counted.
std::string WhyNotAbsent(std::span<const FilePages> files);

// Returns the files, each once, that a text in the form of /proc/PID/maps names, without those that have been
// deleted.
std::vector<std::string> MappedFiles(const std::string& maps);
// The same of a process; nothing if it has ended, or is another user's.
std::vector<std::string> MappedFiles(int pid);

// Returns those of `paths` that any process maps but those of `except`, as far as this user may know.
std::vector<std::string> MappedByOthers(const std::vector<std::string>& paths, std::span<const int> except);

}  // namespace mete
