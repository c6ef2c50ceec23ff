// What a network has found in a picture: as text, as JSON, and, with --show, as a picture in a file.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "context.h"
#include "mete/answer.h"
#include "mete/engine.h"
#include "pictures.h"

namespace mete::cli {

struct ShowFlags {
  std::string kind;  // as Name(AnswerKind), or "tokens"; empty: nothing is shown
  std::string out;   // empty: a name made of the picture's, in the working folder

  bool tokens() const { return kind == "tokens"; }
  bool given() const { return !kind.empty() && !tokens(); }  // a picture is drawn
};

void AddShowFlags(CLI::App& command, ShowFlags& flags);

// UsageError if the flags do not fit the number of pictures; Error if a file could not be written.
void CheckShow(const ShowFlags& flags, const std::vector<std::string>& pictures);

// The head of the settings is what --show asks for; `head` fails if it is not, or if there is no such head.
void CheckHead(const ShowFlags& flags, const Preprocess& settings, const PictureSetting& head);

struct Found {
  PictureAnswer answer;
  std::string file;  // "": none was written
};

// Decodes the outputs of one picture, and writes the file that --show asks for.
Found FindIn(const Image& picture, const Model& model, std::span<const Tensor> outputs,
             const Preprocess& settings, const Shape& input, std::span<const std::string> labels,
             const ShowFlags& flags);

void PrintFound(const Found& found, std::span<const std::string> labels);
Json FoundJson(const Found& found, std::span<const std::string> labels);

// Returns the text on heads for `mete help heads`.
std::string HeadsHelp();

}  // namespace mete::cli
