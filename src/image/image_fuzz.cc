// A libFuzzer target that decodes any bytes as a picture and applies every stage of the preprocessing to it.
// It also parses the bytes as a preprocessing file.
#include "base/error.h"
#include "image/decode.h"
#include "image/scaled_picture.h"
#include "mete/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)mete::PixelsOf(bytes);
  try {
    mete::DecodeOptions options;
    options.jpeg_denominator = size == 0 ? 1 : 1 << (data[size - 1] & 3);
    const mete::Image image = mete::DecodeImage(bytes, "fuzz", options);
    mete::Preprocess p;
    p.resize_shorter = 17;
    p.crop_width = p.crop_height = 12;
    p.resize_width = 20;
    p.resize_height = 9;
    p.transpose = true;
    (void)mete::MakeInput(image, p);
    (void)mete::DecodeScaled(bytes, "fuzz", p, {1, 3, 20, 9}, options);
  } catch (const mete::Error&) {}
  try {
    (void)mete::ParsePreprocess({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const mete::Error&) {}
  return 0;
}
