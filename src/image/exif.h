// The orientation among a picture's EXIF data, and how it is undone.
#pragma once

#include "image/decode.h"

namespace mete {

// `tiff` is a TIFF header with its directories, as PNG's eXIf chunk has it, and a JPEG behind "Exif\0\0". 1
// where it says no orientation or is damaged: a picture is shown as it is stored then.
int ExifOrientation(Bytes tiff);

// The picture as its exif_orientation says that it is to be shown: turned, mirrored, or as it is.
Image Upright(Image image);

}  // namespace mete
