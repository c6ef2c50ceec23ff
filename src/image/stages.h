// The stages of a preprocessing that change a picture's size (mete/image.h).
#pragma once

#include <optional>

#include "mete/image.h"

namespace mete {

// In pixels.
struct PictureSize {
  int width = 0, height = 0;
};
inline PictureSize SizeOf(const Image& image) { return {image.width, image.height}; }

Image ResizeTo(const Image& image, PictureSize size, const Preprocess& p);

// Returns the form of an input of pictures; throws INVALID_ARGUMENT for other inputs and for open sizes.
PictureShape NeedPictureShape(const Shape& input);

// All stages.
Image Stages(Image image, const Preprocess& p);

// The size that the first stage gives a picture; nothing: it cuts out the centre. Needs settings with a size.
std::optional<PictureSize> SizeAtFirst(PictureSize image, const Preprocess& p);

void CheckSettings(const Preprocess& p);  // throws INVALID_ARGUMENT for settings that contradict each other

// Returns the settings, with the input's size as resize_width and resize_height if the settings have none.
// Errors as CheckSettings().
Preprocess SettingsFor(Preprocess p, const PictureShape& want);

}  // namespace mete
