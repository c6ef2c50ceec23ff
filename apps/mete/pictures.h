// Makes a model's input from picture files. Settings of flags come before those of the TOML beside the model,
// and these before what follows from the input's shape.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"

namespace mete::cli {

struct PictureFlags {
  std::string preprocess;                                     // a recipe's name, or a TOML
  std::vector<std::pair<std::string, std::string>> settings;  // key of SetPreprocess(), value

  bool given(const std::string& key) const;
};

// A setting of pictures as its user gave it: by a flag, by a recipe, or in a TOML file.
class PictureSetting {
 public:
  PictureSetting(const PictureFlags& flags, const std::string& model_path, const std::string& key);
  const std::string& name() const { return name_; }    // "--resize", or "resize"
  const std::string& where() const { return where_; }  // "--resize", or "resize in net.toml:"
  // Throws a UsageError if the command line has the setting, and an Error if the file has it.
  [[noreturn]] void Fail(const std::string& problem) const;

 private:
  std::string name_, where_;
  bool in_file_ = false;
};

// kPixels: without the flags about how answers are printed.
enum class PictureKeys { kAll, kPixels };
void AddPictureFlags(CLI::App& command, PictureFlags& flags, PictureKeys keys = PictureKeys::kAll);
Preprocess PreprocessOf(const std::string& model_path, const Port& port, const PictureFlags& flags);

// Returns the shape that the port must have for these settings. If the file leaves height and width open,
// they are those of --resize or --crop.
Shape WantedShape(const Port& port, const Preprocess& preprocess);

// The settings fail (PictureSetting::Fail) if they ask for another size than the port's; UsageError if the
// port does not take pictures.
void CheckPictures(const Port& port, const Preprocess& preprocess, const PictureFlags& flags,
                   const std::string& model_path);

// `warning`: no setting says which range of values pixels must have. `note`: the size is assumed. Empty: no
// such remark.
struct PictureRemarks {
  std::string warning, note;
};
PictureRemarks RemarksOf(const std::string& model, const Port& port, const Preprocess& preprocess);

// How a picture of this EXIF orientation is turned; "": it is not.
const char* TurnedText(int orientation);

// A batch with as many pictures as the port takes.
struct PictureBatch {
  Tensor tensor;
  std::vector<Image> images;
  // how each picture was turned because of its EXIF orientation; "": not turned
  std::vector<std::string> turned;
  // a note if a picture loses its aspect although no setting asks for that; else ""
  std::string stretched;
};
PictureBatch ReadPictures(std::span<const std::string> paths, const Preprocess& preprocess, const Port& port);

// Returns the text on keys and recipes for `mete help preprocess`, the manual page and docs/preprocess.md.
std::string PreprocessHelp();

}  // namespace mete::cli
