// The pictures on which a network is calibrated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"

namespace mete::cli {

// Error NOT_FOUND for a path that is not there.
void CheckPicturesPath(const std::string& path);

// Returns the pictures of the files and folders, at most `most` of them, spread evenly over all in the order
// of their names. Error NOT_FOUND for a path that is not there, INVALID_ARGUMENT if there is no picture at
// all.
std::vector<std::string> FindPictures(const std::vector<std::string>& paths, size_t most);

// Inputs of a model made from pictures, a batch of the model each.
class CalibrationPictures {
 public:
  // Reads each picture once. Those that cannot be read are left out and counted in a warning. Error
  // INVALID_ARGUMENT if too few are left for one batch.
  CalibrationPictures(const std::vector<std::string>& paths, const Preprocess& preprocess, const Port& port,
                      const Context& context);

  size_t count() const { return tensors_.size(); }
  size_t unreadable() const { return unreadable_; }
  Tensor Read(size_t batch) const;

 private:
  std::vector<std::string> BatchOf(size_t batch) const;

  const Preprocess preprocess_;
  const Port port_;
  const size_t per_batch_;
  std::vector<std::string> paths_;
  size_t unreadable_ = 0;
  std::vector<Tensor> tensors_;  // those beyond kMostKeptBytes have no value and are read again
};

}  // namespace mete::cli
