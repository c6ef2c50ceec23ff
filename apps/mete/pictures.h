// From picture files to a model's input: flags over the TOML beside the model over what the input's shape
// says.
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
};
void AddPictureFlags(CLI::App& command, PictureFlags& flags);
Preprocess PreprocessOf(const std::string& model_path, const Port& port, const PictureFlags& flags);

// The shape that the port is to have for these settings, where the file leaves its height and width open:
// that of --resize or --crop.
Shape WantedShape(const Port& port, const Preprocess& preprocess);

// UsageError where the settings ask for another size than the port's, or the port takes no pictures of that
// many channels.
void CheckPictures(const Port& port, const Preprocess& preprocess);

// A warning where nothing says which values pixels are to have, a note where the size is assumed; empty:
// neither.
struct PictureRemarks {
  std::string warning, note;
};
PictureRemarks RemarksOf(const std::string& model, const Port& port, const Preprocess& preprocess);

// As many pictures as the port takes.
struct PictureBatch {
  Tensor tensor;
  std::vector<std::string> turned;  // of each, how its EXIF orientation had it turned; empty: not
  // a note where a picture loses its aspect although nothing asks for that; empty: none does
  std::string stretched;
};
PictureBatch ReadPictures(std::span<const std::string> paths, const Preprocess& preprocess, const Port& port);

// The keys and recipes of `mete help preprocess`, the manual page and docs/preprocess.md.
std::string PreprocessHelp();

}  // namespace mete::cli
