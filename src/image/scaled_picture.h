// The scaled picture that a device sends instead of a photo: the server makes the same input of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mete/image.h"

namespace mete {

// Returns the picture after the first stage that makes it smaller, before a centre is cut out or a rest is
// filled, so that MakeInput() makes of it, bit for bit, what it makes of the whole picture. `input` is the
// shape of the model's input. Errors as MakeInput().
Image ScaledPicture(const Image& image, const Preprocess& preprocess, const Shape& input);

struct DecodedPicture {
  Image image;         // with the exif_orientation of the file
  int64_t pixels = 0;  // of the whole picture
};

// Returns ScaledPicture() of DecodeImage(), bit for bit. Of a baseline JPEG that is stored upright and
// becomes smaller, only one row at a time has the whole width: the rows of a photo of 3840x2160 for an input
// of 224x224 pixels take 1.5 MB where the whole one takes 25. Errors of both.
DecodedPicture DecodeScaled(std::span<const std::byte> bytes, const std::string& name,
                            const Preprocess& preprocess, const Shape& input,
                            const DecodeOptions& options = {});

// The picture as a PPM (P6), which takes nothing to encode: 3 bytes for each pixel and a few more.
std::string PpmOf(const Image& image);

}  // namespace mete
