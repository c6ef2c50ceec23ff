// The kernel of mete.DetectionOutput, the last layer of SSD's networks in Caffe: of each class of each image
// the boxes with the best scores among those that overlap, and of each image the best of these.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/boxes.h"
#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"

namespace mete {
namespace {

// A row of the output.
struct Detection {
  float image, label, score;
  CornerBox box;
};
static_assert(sizeof(Detection) == 7 * sizeof(float));

// Makes boxes from predictions, which are relative to the prior box of the same number. The prior boxes of
// RefineDet are first moved by predictions of their own, in the same way.
class Decoder {
 public:
  explicit Decoder(const RefArgs& args)
      : predictions_(args.in[0].as<float>()),
        priors_(args.in[2].as<float>()),
        moves_(args.in.size() > 4 ? args.in[4].as<float>() : nullptr),
        count_(args.in[2].shape[2] / 4),
        labels_(args.attributes.Int("share_location", 1) ? 1 : args.attributes.Int("num_classes", 1)),
        scaled_(args.attributes.Int("variance_encoded_in_target", 0) == 0),
        corner_(args.attributes.String("code_type", "corner") == "corner"),
        center_(args.attributes.String("code_type", "corner") == "center_size"),
        clips_(args.attributes.Int("clip", 0) != 0) {}

  int64_t count() const { return count_; }  // boxes of an image

  CornerBox BoxOf(int64_t image, int64_t label, int64_t i) const {
    const float* prediction = predictions_ + ((image * count_ + i) * labels_ + (labels_ > 1 ? label : 0)) * 4;
    const float *prior = priors_ + i * 4, *variance = prior + count_ * 4;
    CornerBox box{prior[0], prior[1], prior[2], prior[3]};
    if (moves_) box = Moved(box, variance, moves_ + (image * count_ + i) * 4);
    box = Moved(box, variance, prediction);
    return clips_ ? Clipped(box) : box;
  }

 private:
  CornerBox Moved(const CornerBox& prior, const float* variance, const float* prediction) const {
    double v[4];
    for (int k = 0; k < 4; ++k) v[k] = double(prediction[k]) * (scaled_ ? double(variance[k]) : 1);
    const double x0 = double(prior.x0), y0 = double(prior.y0), x1 = double(prior.x1), y1 = double(prior.y1);
    // The unit of an offset is the size of the prior box, or 1 for the code type "corner".
    const double width = corner_ ? 1 : x1 - x0, height = corner_ ? 1 : y1 - y0;
    if (center_) {
      const double x = (x0 + x1) / 2 + v[0] * width, y = (y0 + y1) / 2 + v[1] * height,
                   right = std::exp(v[2]) * width / 2, down = std::exp(v[3]) * height / 2;
      return {float(x - right), float(y - down), float(x + right), float(y + down)};
    }
    return {float(x0 + v[0] * width), float(y0 + v[1] * height), float(x1 + v[2] * width),
            float(y1 + v[3] * height)};
  }

  // The picture is the square from (0, 0) to (1, 1).
  static CornerBox Clipped(const CornerBox& box) {
    const auto inside = [](float v) { return std::clamp(v, 0.0f, 1.0f); };
    return {inside(box.x0), inside(box.y0), inside(box.x1), inside(box.y1)};
  }

  const float *predictions_, *priors_, *moves_;  // moves_ may be null
  int64_t count_, labels_;                       // labels_: boxes for each prior box
  bool scaled_, corner_, center_, clips_;
};

struct Limits {
  float score, overlap, eta;
  int64_t of_class, of_image;  // candidates that are compared, and boxes that are kept
};

Limits LimitsOf(const Attributes& a, int64_t boxes, int64_t labels) {
  const auto limit = [&](const char* name, int64_t all) {
    const int64_t most = a.Int(name, -1);
    return most < 0 ? all : std::min(most, all);
  };
  Limits limits{a.Float("confidence_threshold", std::numeric_limits<float>::lowest()),
                a.Float("nms_threshold", 0.3f), a.Float("eta", 1), limit("top_k", boxes), 0};
  limits.of_image = limit("keep_top_k", labels * limits.of_class);
  return limits;
}

struct WorkingMemory {
  float* scores;
  int64_t* order;
  uint8_t* kept;
  float* apart;
};

// Writes the boxes of one class of one image that overlap none of a better score. Returns their number.
int64_t KeepOfClass(const Decoder& decoder, const Limits& limits, int64_t image, int64_t label,
                    const WorkingMemory& memory, Detection* to) {
  int64_t candidates = PlacesAbove(limits.score, memory.scores, decoder.count(), memory.order), n = 0;
  SortByScore(memory.scores, memory.order, candidates);
  candidates = std::min(candidates, limits.of_class);
  float threshold = limits.overlap;
  KeptBoxes apart(memory.apart);
  for (int64_t c = 0; c < candidates; ++c) {
    const int64_t i = memory.order[c];
    const CornerBox box = decoder.BoxOf(image, label, i);
    if (apart.AnyOverlaps(box, threshold)) continue;
    apart.Keep(box);
    to[n++] = {float(image), float(label), memory.scores[i], box};
    if (limits.eta < 1 && threshold > 0.5f) threshold *= limits.eta;
  }
  return n;
}

// Drops all but the `most` best of an image's boxes; the others stay in their order. Returns their number.
int64_t KeepBest(Detection* found, int64_t count, int64_t most, const WorkingMemory& memory) {
  if (count <= most) return count;
  for (int64_t i = 0; i < count; ++i) {
    memory.scores[i] = found[i].score;
    memory.order[i] = i;
    memory.kept[i] = 0;
  }
  SortByScore(memory.scores, memory.order, count);
  for (int64_t i = 0; i < most; ++i) memory.kept[memory.order[i]] = 1;
  int64_t n = 0;
  for (int64_t i = 0; i < count; ++i)
    if (memory.kept[i]) found[n++] = found[i];
  return n;
}

// Where nothing is found, each image has a row with its number and -1 in all other places.
void Write(const Detection* found, int64_t count, const View& out) {
  if (count > 0) return CopyBytes(out.data, found, size_t(count) * sizeof(Detection));
  float* to = out.as<float>();
  for (int64_t i = 0; i < out.shape[2]; ++i, to += 7) {
    std::fill_n(to, 7, -1.0f);
    to[0] = float(i);
  }
}

}  // namespace

void RunDetectionOutput(RefArgs& args) {
  const Decoder decoder(args);
  const int64_t images = args.in[1].shape[0], labels = args.attributes.Int("num_classes", 1),
                background = args.attributes.Int("background_label_id", 0), boxes = decoder.count();
  if (images == 0) return args.allocate(0, DType::kF32, {1, 1, 0, 7});
  const Limits limits = LimitsOf(args.attributes, boxes, labels);
  const int64_t most = labels * limits.of_class, room = std::max(boxes, most);
  const WorkingMemory memory{args.scratch.Get<float>(size_t(room)), args.scratch.Get<int64_t>(size_t(room)),
                             args.scratch.Get<uint8_t>(size_t(room)),
                             args.scratch.Get<float>(size_t(KeptBoxes::Floats(limits.of_class)))};
  auto* found = args.scratch.Get<Detection>(size_t(images * limits.of_image + most));
  const float* confidence = args.in[1].as<float>();
  // A prior box without an object is background, the first class.
  const float* objects = args.in.size() > 3 ? args.in[3].as<float>() : nullptr;
  const float least = args.attributes.Float("objectness_score", 0);
  const auto has_object = [&](int64_t image, int64_t box) {
    return !objects || objects[(image * boxes + box) * 2 + 1] >= least;
  };
  int64_t total = 0;
  for (int64_t n = 0; n < images; ++n, confidence += boxes * labels) {
    int64_t of_image = 0;
    for (int64_t label = 0; label < labels; ++label) {
      if (label == background) continue;
      for (int64_t i = 0; i < boxes; ++i)
        memory.scores[i] = has_object(n, i) ? confidence[i * labels + label] : label == 0 ? 1.0f : 0.0f;
      of_image += KeepOfClass(decoder, limits, n, label, memory, found + total + of_image);
    }
    total += KeepBest(found + total, of_image, limits.of_image, memory);
  }
  args.allocate(0, DType::kF32, {1, 1, total > 0 ? total : images, 7});
  if (args.wants(0)) Write(found, total, args.out[0]);
}

}  // namespace mete
