// The scaled picture that a device sends instead of a photo: the server makes the same input of it.
#pragma once

#include <string>

#include "mete/image.h"

namespace mete {

// Returns the picture after the first stage that makes it smaller, before a centre is cut out or a rest is
// filled, so that MakeInput() makes of it, bit for bit, what it makes of the whole picture. `input` is the
// shape of the model's input. Errors as MakeInput().
Image ScaledPicture(const Image& image, const Preprocess& preprocess, const Shape& input);

// The picture as a PPM (P6), which takes nothing to encode: 3 bytes for each pixel and a few more.
std::string PpmOf(const Image& image);

}  // namespace mete
