// The decoders behind DecodeImage(), one file each.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "mete/image.h"

namespace mete {

using Bytes = std::span<const std::byte>;

bool IsJpeg(Bytes bytes);
bool IsPng(Bytes bytes);
bool IsBmp(Bytes bytes);
bool IsPnm(Bytes bytes);

Image DecodeJpeg(Bytes bytes, const std::string& name, const DecodeOptions& options);
Image DecodePng(Bytes bytes, const std::string& name, const DecodeOptions& options);
Image DecodeBmp(Bytes bytes, const std::string& name, const DecodeOptions& options);
Image DecodePnm(Bytes bytes, const std::string& name, const DecodeOptions& options);

// What a header says, before anything of that size is allocated. Error where a side is 0 or the picture too
// large.
void CheckImageSize(int64_t width, int64_t height, const std::string& name, const DecodeOptions& options);

[[noreturn]] void CorruptImage(const std::string& name, const char* format, const char* reason);

}  // namespace mete
