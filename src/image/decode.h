// The decoders that DecodeImage() calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "mete/image.h"

namespace mete {

using Bytes = std::span<const std::byte>;

bool IsJpeg(Bytes bytes);
bool IsPng(Bytes bytes);
bool IsBmp(Bytes bytes);
bool IsPnm(Bytes bytes);

// How rows become narrower as they are decoded, so that a picture of the whole width is never in memory.
struct Narrowing {
  // Returns the width for a picture of width x height pixels; its own width: rows stay as they are. Where the
  // function is empty, all rows stay as they are.
  std::function<int(int width, int height)> width = {};
  Interpolation interpolation = Interpolation::kAntialias;
};

// Returns what DecodeImage() does, with narrower rows where these are stored upright and the decoder can.
Image DecodeNarrowed(Bytes bytes, const std::string& name, const DecodeOptions& options,
                     const Narrowing& narrowing);

Image DecodeJpeg(Bytes bytes, const std::string& name, const DecodeOptions& options,
                 const Narrowing& narrowing);
Image DecodePng(Bytes bytes, const std::string& name, const DecodeOptions& options);
Image DecodeBmp(Bytes bytes, const std::string& name, const DecodeOptions& options);
Image DecodePnm(Bytes bytes, const std::string& name, const DecodeOptions& options);

// Returns the pixels of a JPEG or PNG as its header says, without decoding it. Nothing: the picture is of
// another format, or its header cannot be read.
std::optional<int64_t> PixelsOf(Bytes bytes);
std::optional<int64_t> PixelsOfJpeg(Bytes bytes);
std::optional<int64_t> PixelsOfPng(Bytes bytes);

// Checks the size in a picture's header. Decoders call this function before they allocate memory of that
// size. Throws DATA_LOSS if a side is not positive, and RESOURCE_EXHAUSTED if the picture has too many
// pixels.
void CheckImageSize(int64_t width, int64_t height, const std::string& name, const DecodeOptions& options);

[[noreturn]] void CorruptImage(const std::string& name, const char* format, const char* reason);

}  // namespace mete
