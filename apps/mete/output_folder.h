// Tensors into a folder of .npy files, all or none.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "mete/tensor.h"

namespace mete::cli {

class OutputFolder {
 public:
  // Makes the folder where it is missing. An empty path: every call does nothing.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();  // removes what Commit() has not made final
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Writes to a temporary name; characters that a file name should not have become '_'.
  void Add(const std::string& name, const ConstView& tensor);

  // Gives every file its name; the names are returned.
  std::vector<std::string> Commit();

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  // temporary, final
};

}  // namespace mete::cli
