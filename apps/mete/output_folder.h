// Writes tensors into a folder of .npy files, either all of them or none.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "mete/tensor.h"

namespace mete::cli {

class OutputFolder {
 public:
  // Makes the folder if it is missing. With an empty path every call does nothing.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();  // deletes the files that Commit() has not given their names
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Writes a tensor to a file with a temporary name. Characters that a file name should not have become '_'.
  void Add(const std::string& name, const ConstView& tensor);

  // Gives every file its final name, and returns these names.
  std::vector<std::string> Commit();

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  // temporary, final
};

}  // namespace mete::cli
