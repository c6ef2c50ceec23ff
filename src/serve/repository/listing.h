// What lies in folders, in an order that does not depend on the file system, and bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mete::serve {

struct Entry {
  enum Kind {
    kFile,
    kFolder,
    kOther
  } kind = kOther;  // of what a link leads to; kOther: a pipe, or a lost link
  std::string name, path;
  int64_t bytes = 0, changed_ns = 0;  // of a file; since the Unix epoch
  std::string leads_to;               // of a link out of the root: where to
};

class Listing {
 public:
  // Lists folders below `root`; reads at most `most_entries` entries in its life.
  Listing(const std::string& root, int64_t most_entries);

  // Returns the entries of a folder by name; those whose names begin with a dot are left out. Throws Error if
  // the folder cannot be read, or if there are more entries than this object may read.
  std::vector<Entry> Of(const std::string& folder);

 private:
  Entry Look(const std::string& folder, const std::string& name) const;

  std::string root_;  // without links
  int64_t entries_left_;
};

// Returns the text of a regular file. Throws Error if it cannot be read or has more than `most_bytes`.
std::string TextOf(const Entry& file, int64_t most_bytes);

}  // namespace mete::serve
