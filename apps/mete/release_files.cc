#include "release_files.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace mete::cli {
namespace {

struct Mapping {
  uintptr_t begin = 0, end = 0;
  bool is_read_only_file = false;
};

// A header in smaps: "start-end perms offset device inode    path". Returns false for other lines.
bool ReadHeader(const std::string& line, Mapping& mapping) {
  Mapping m;
  char permissions[5] = {};
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &m.begin, &m.end, permissions) != 3)
    return false;
  m.is_read_only_file = permissions[1] != 'w' && line.find(" /") != line.npos;
  mapping = m;
  return true;
}

// Pages that were written before the mapping became read-only, as the linker does, are anonymous: they are in
// no file, and would be lost.
std::vector<Mapping> FilesAsTheyAreOnDisk() {
  std::vector<Mapping> mappings;
  Mapping now;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);)
    if (int64_t kib = 0; !ReadHeader(line, now) && now.is_read_only_file &&
                         std::sscanf(line.c_str(), "Anonymous: %" SCNd64, &kib) == 1 && kib == 0)
      mappings.push_back(now);
  return mappings;
}

}  // namespace

void ReleaseMappedFiles() {
  for (const Mapping& m : FilesAsTheyAreOnDisk())
    madvise(reinterpret_cast<void*>(m.begin), m.end - m.begin, MADV_DONTNEED);
}

}  // namespace mete::cli
