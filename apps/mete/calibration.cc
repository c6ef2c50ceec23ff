#include "calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/open_problem.h"
#include "pictures.h"
#include "terminal.h"

namespace mete::cli {
namespace fs = std::filesystem;

namespace {

// Tensors of 1700 pictures of 224x224. More of them are read from their files again in each pass.
constexpr size_t kMostKeptBytes = size_t(1) << 30;

bool IsPicture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  constexpr const char* kEndings[] = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm"};
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

// Files whose kind cannot be told, such as links to themselves, are no pictures.
std::vector<std::string> PicturesIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && IsPicture(at->path())) found.push_back(at->path().string());
  }
  if (problem) FailToOpen(folder, problem.value(), "--calibrate " + folder);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void CheckPicturesPath(const std::string& path) {
  if (std::error_code ignored; !fs::exists(path, ignored)) FailToOpen(path, ENOENT, "--calibrate " + path);
}

std::vector<std::string> FindPictures(const std::vector<std::string>& paths, size_t most) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    CheckPicturesPath(path);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      const std::vector<std::string> found = PicturesIn(path);
      all.insert(all.end(), found.begin(), found.end());
    } else {
      all.push_back(path);
    }
  }
  if (all.empty())
    Invalid("--calibrate " + paths.front(),
            "no picture is there; expected files that end with .jpg, .png, .bmp or .ppm; try another folder");
  if (all.size() <= most) return all;
  std::vector<std::string> spread;
  for (size_t i = 0; i < most; ++i) spread.push_back(all[i * all.size() / most]);
  return spread;
}

CalibrationPictures::CalibrationPictures(const std::vector<std::string>& paths, const Preprocess& preprocess,
                                         const Port& port, const Context& context)
    : preprocess_(preprocess), port_(port), per_batch_(size_t(std::max<int64_t>(port.shape[0], 1))) {
  Progress progress(context, "reading pictures");
  std::string first_problem;
  for (const std::string& path : paths) {
    CheckCancelled(context);
    progress.Update(int(paths_.size() + unreadable_), int(paths.size()));
    try {
      (void)LoadImage(path);
      paths_.push_back(path);
    } catch (const Error& e) {
      if (unreadable_++ == 0) first_problem = e.what();
    }
  }
  const size_t batches = paths_.size() / per_batch_;
  if (batches == 0)
    throw Error(
        Code::kInvalidArgument,
        fmt::format("[--calibrate] too few pictures can be read; got {} of {}, expected at least {}{}",
                    paths_.size(), paths.size(), per_batch_,
                    first_problem.empty() ? "" : "\n" + first_problem));
  if (unreadable_ > 0)
    PrintWarning(context, fmt::format("{} of {} pictures cannot be read and are left out; the first: {}",
                                      unreadable_, paths.size(), first_problem));
  size_t kept = 0;
  for (size_t i = 0; i < batches; ++i) {
    CheckCancelled(context);
    tensors_.push_back(kept < kMostKeptBytes ? ReadPictures(BatchOf(i), preprocess_, port_).tensor
                                             : Tensor());
    if (tensors_.back().has_value()) kept += tensors_.back().bytes();
  }
}

std::vector<std::string> CalibrationPictures::BatchOf(size_t batch) const {
  const auto first = paths_.begin() + std::ptrdiff_t(batch * per_batch_);
  return {first, first + std::ptrdiff_t(per_batch_)};
}

Tensor CalibrationPictures::Read(size_t batch) const {
  const Tensor& kept = tensors_[batch];
  return kept.has_value() ? kept : ReadPictures(BatchOf(batch), preprocess_, port_).tensor;
}

}  // namespace mete::cli
