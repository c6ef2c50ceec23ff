// A folder for a measurement within the cache folder, on the same disk, which is gone afterwards.
#pragma once

#include <string>

namespace mete {

class WorkFolder {
 public:
  // Makes a folder in `within`, which is made if it is not there, and removes those of processes that were
  // killed before they could: nobody holds their locks. Error UNAVAILABLE.
  explicit WorkFolder(const std::string& within);
  // Removes the folder with everything in it.
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const { return path_; }
  // Returns a folder within it, which is made if it is not there.
  std::string operator/(const std::string& name) const;

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace mete
