// The orientation in a picture's EXIF data, and the function that turns a picture upright.
#pragma once

#include "image/decode.h"

namespace mete {

// Returns the orientation, from 1 to 8. Returns 1 (the picture is shown as it is stored) if `tiff` has no
// orientation or is damaged. `tiff` is a TIFF header with its directories, which is the content of PNG's eXIf
// chunk and the data behind "Exif\0\0" in a JPEG.
int ExifOrientation(Bytes tiff);

// Returns the picture turned and mirrored as its exif_orientation requires.
Image Upright(Image image);

}  // namespace mete
