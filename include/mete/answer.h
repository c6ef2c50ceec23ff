// What a network's outputs say about a picture: boxes, a mask, another picture, or points, in pixels of the
// picture that the input was made from; or which tokens of a text they are.
// Preprocess::head (mete/image.h) names the form of the outputs and says which boxes count; the TOML beside
// the model may have it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mete/image.h"
#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

enum class AnswerKind { kBoxes, kMask, kPicture, kPoints };
const char* Name(AnswerKind kind);  // "boxes", "mask", "picture", "keypoints"

// A form that the outputs of a family of networks have.
struct AnswerHead {
  const char* name;
  AnswerKind kind;
  const char* help;
};
std::span<const AnswerHead> AnswerHeads();

// The sides lie within the picture; `label` is the class as the network counts it.
struct PictureBox {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float score = 0;
  int label = 0;
};

struct PicturePoint {
  float x = 0, y = 0;
  float score = 0;
  int label = 0;     // the number of the heat map, or of the point of a box
  bool seen = true;  // whether a point of a box has the least score or more
};

// The class of each pixel of the picture; kOutside: the input had nothing of the pixel, or its class is left
// out.
struct PictureMask {
  static constexpr int16_t kOutside = -1;
  int width = 0, height = 0;
  std::vector<int16_t> label;
};

struct PictureAnswer {
  AnswerKind kind = AnswerKind::kBoxes;
  std::vector<PictureBox> boxes;  // the best score first
  // Of kBoxes: points.size() / boxes.size() for each box, in the order of the boxes; none where the network
  // gives none. They may lie outside of the picture.
  std::vector<PicturePoint> points;
  PictureMask mask;
  Image picture;
};

struct HeadOutput {
  std::string name;
  ConstView values;
};

// Returns what the outputs of one picture say. `settings` and `input` are those by which MakeInput() made the
// input from the picture. Error INVALID_ARGUMENT if there is no such head, or the outputs do not fit it.
PictureAnswer DecodeAnswer(std::span<const HeadOutput> outputs, const Image& picture,
                           const Preprocess& settings, const Shape& input);

// Returns the points of box `i`.
std::span<const PicturePoint> PointsOfBox(const PictureAnswer& answer, size_t i);

// Returns the picture with the answer drawn over it, or the answer itself if that is a picture. labels[i] is
// the name of class i; classes without one have their number. Error INVALID_ARGUMENT for a mask of a picture
// of another size.
Image DrawAnswer(const Image& picture, const PictureAnswer& answer, std::span<const std::string> labels);

struct LikelyToken {
  int64_t token = 0;
  float probability = 0;  // by the softmax of the logits of its position
};

struct TokenAnswer {
  std::vector<int64_t> tokens;    // of logits the likeliest at each position
  std::vector<LikelyToken> last;  // of logits the likeliest at the last position, the best first
};

// Returns the tokens that the outputs give: integers N or 1xN, or logits 1xNxV. Of several such outputs it is
// the one with 'logit', 'token', 'ids' or 'sequence' in its name. `most`: how many `last` has. What text they
// are is the tokenizer's business, which `mete run --show tokens` reads. Error INVALID_ARGUMENT if no output,
// or more than one, can be tokens.
TokenAnswer DecodeTokens(std::span<const HeadOutput> outputs, int most = 5);

}  // namespace mete
