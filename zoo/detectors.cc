// Detectors of one stage with their raw outputs: boxes are not decoded, and none are suppressed.
#include "zoo/architectures.h"
#include "zoo/blocks.h"

namespace mete::zoo {
namespace {

constexpr int kClasses = 80;  // of COCO

Tensor Join(GraphBuilder& b, const Tensor& x, const Tensor& y) {
  const Tensor parts[] = {x, y};
  return b.Concat(parts, 1);
}

// YOLO's convolution, of one kind: whole, or depthwise with a 1x1 convolution behind it.
enum class Kind { kWhole, kSeparable };

Tensor Step(GraphBuilder& b, const Tensor& x, int channels, int window, int stride, Kind kind,
            Act act = Act::kSwish) {
  if (kind == Kind::kWhole) return Unit(b, x, channels, window, stride, act);
  return Unit(b, Depthwise(b, x, window, stride, act), channels, 1, 1, act);
}

struct Csp {
  int channels, count;
  bool shortcut = true;
  Kind kind = Kind::kWhole;
};

// A part of the channels goes through `count` bottlenecks, the other part around them (C3).
Tensor CspLayer(GraphBuilder& b, const Tensor& x, const Csp& p) {
  const int half = p.channels / 2;
  Tensor y = Unit(b, x, half, 1, 1, Act::kSwish);
  for (int i = 0; i < p.count; ++i) {
    const Tensor inner = Step(b, Unit(b, y, half, 1, 1, Act::kSwish), half, 3, 1, p.kind);
    y = p.shortcut ? b.Add(y, inner) : inner;
  }
  return Unit(b, Join(b, y, Unit(b, x, half, 1, 1, Act::kSwish)), p.channels, 1, 1, Act::kSwish);
}

// Pools of three sizes: one behind the other (YOLOv5), or side by side (YOLOX).
enum class Pyramid { kInSeries, kSideBySide };

Tensor PyramidPool(GraphBuilder& b, const Tensor& x, int channels, Pyramid pyramid) {
  const bool in_series = pyramid == Pyramid::kInSeries;
  const Tensor first = Unit(b, x, int(x.dims[1]) / 2, 1, 1, Act::kSwish);
  std::vector<Tensor> parts{first};
  for (int i = 1; i <= 3; ++i) {
    const int window = in_series ? 5 : 1 + 4 * i;
    parts.push_back(b.MaxPool(in_series ? parts.back() : first, window, {.stride = 1, .pad = window / 2}));
    parts.back().mean_square = first.mean_square * 2;
  }
  return Unit(b, b.Concat(parts, 1), channels, 1, 1, Act::kSwish);
}

// The path aggregation of YOLOv5 and YOLOX: from coarse to fine, and back. The levels are the finest first.
std::vector<Tensor> PathAggregation(GraphBuilder& b, const std::vector<Tensor>& levels, Kind kind) {
  const int fine = int(levels[0].dims[1]), middle = int(levels[1].dims[1]), coarse = int(levels[2].dims[1]);
  const auto csp = [&](const Tensor& x, int channels) { return CspLayer(b, x, {channels, 1, false, kind}); };
  const Tensor top = Unit(b, levels[2], middle, 1, 1, Act::kSwish);
  const Tensor joined = csp(Join(b, b.Enlarge(top, 2), levels[1]), middle);
  const Tensor reduced = Unit(b, joined, fine, 1, 1, Act::kSwish);
  const Tensor out3 = csp(Join(b, b.Enlarge(reduced, 2), levels[0]), fine);
  const Tensor out4 = csp(Join(b, Step(b, out3, fine, 3, 2, kind), reduced), middle);
  const Tensor out5 = csp(Join(b, Step(b, out4, middle, 3, 2, kind), top), coarse);
  return {out3, out4, out5};
}

// YOLOX's first layer: the four pixels of each 2x2 square as channels.
Tensor Focus(GraphBuilder& b, const Tensor& x) {
  std::vector<Tensor> parts;
  for (const int column : {0, 1})
    for (const int row : {0, 1})
      parts.push_back(b.Slice(b.Slice(x, 2, row, x.dims[2], 2), 3, column, x.dims[3], 2));
  return b.Concat(parts, 1);
}

// The channels last, as rows of `features` for each place.
Tensor Places(GraphBuilder& b, const Tensor& x, int64_t features) {
  const Tensor moved = b.Transpose(x, {0, 2, 3, 1});
  return b.Reshape(moved, {1, moved.dims[1] * moved.dims[2] * moved.dims[3] / features, features});
}

// Half of the channels by a 1x1 convolution, the other half from these by a depthwise one (GhostNet).
Tensor Ghost(GraphBuilder& b, const Tensor& x, int channels, Act act) {
  const Tensor first = Unit(b, x, channels / 2, 1, 1, act);
  return Join(b, first, Depthwise(b, first, 3, 1, act));
}

Tensor GhostBlock(GraphBuilder& b, const Tensor& x, int channels) {
  const Tensor y = Ghost(b, Ghost(b, x, channels, Act::kLeaky), channels, Act::kNone);
  return b.Add(y, Unit(b, Depthwise(b, x, 5, 1, Act::kNone), channels, 1, 1, Act::kNone));
}

// NanoDet-Plus's neck: 96 channels at four levels, the last one made from the two coarsest ones.
std::vector<Tensor> GhostPan(GraphBuilder& b, const std::vector<Tensor>& levels) {
  constexpr int kChannels = 96;
  const auto down = [&](const Tensor& x) {
    return Step(b, x, kChannels, 5, 2, Kind::kSeparable, Act::kLeaky);
  };
  std::vector<Tensor> narrow;
  for (const Tensor& level : levels) narrow.push_back(Unit(b, level, kChannels, 1, 1, Act::kLeaky));
  std::vector<Tensor> out(3);
  out[2] = narrow[2];
  for (const size_t i : {1, 0}) {
    const Tensor& fine = narrow[i];
    const Tensor large = b.Bilinear(out[i + 1], int(fine.dims[2]), int(fine.dims[3]));
    out[i] = GhostBlock(b, Join(b, large, fine), kChannels);
  }
  for (const size_t i : {1, 2}) out[i] = GhostBlock(b, Join(b, down(out[i - 1]), out[i]), kChannels);
  out.push_back(b.Add(down(narrow[2]), down(out[2])));
  return out;
}

}  // namespace

// Liu et al. 2015 on MobileNet v1, with the six heads of 1x1 convolutions of the widely used Caffe model.
void MobileNetSsd(GraphBuilder& b) {
  constexpr int kVocClasses = 21;
  Tensor x = Unit(b, b.Image(3, 300, 300), 32, 3, 2, Act::kRelu);
  const int blocks[][2] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                           {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  std::vector<Tensor> sources;
  for (const auto& [channels, stride] : blocks) {
    if (channels == 1024 && stride == 2) sources.push_back(x);
    x = Unit(b, Depthwise(b, x, 3, stride, Act::kRelu), channels, 1, 1, Act::kRelu);
  }
  sources.push_back(x);
  for (const int channels : {512, 256, 256, 128}) {
    x = Unit(b, Unit(b, x, channels / 2, 1, 1, Act::kRelu), channels, 3, 2, Act::kRelu);
    sources.push_back(x);
  }
  std::vector<Tensor> boxes, scores;
  for (const Tensor& source : sources) {
    const int anchors = source.dims[1] == 512 && source.dims[2] > 10 ? 3 : 6;
    boxes.push_back(Places(b, b.Conv(source, 4 * anchors, 1, {.bias = true}), 4));
    scores.push_back(Places(b, b.Conv(source, kVocClasses * anchors, 1, {.bias = true}), kVocClasses));
  }
  b.Output(b.Concat(boxes, 1), "boxes");
  b.Output(b.Softmax(b.Concat(scores, 1)), "scores");
}

// Ultralytics 2021, release 6, size n.
void YoloV5n(GraphBuilder& b) {
  constexpr int kAnchors = 3, kFeatures = 5 + kClasses;
  Tensor x = b.Swish(b.BatchNorm(b.Conv(b.Image(3, 640, 640), 16, 6, {.stride = 2, .pad = 2})));
  const Csp stages[] = {{32, 1}, {64, 2}, {128, 3}, {256, 1}};
  std::vector<Tensor> levels;
  for (const Csp& stage : stages) {
    x = CspLayer(b, Unit(b, x, stage.channels, 3, 2, Act::kSwish), stage);
    if (stage.channels == 256) x = PyramidPool(b, x, 256, Pyramid::kInSeries);
    if (stage.channels > 32) levels.push_back(x);
  }
  int stride = 8;
  for (const Tensor& level : PathAggregation(b, levels, Kind::kWhole)) {
    const Tensor head = b.Conv(level, kAnchors * kFeatures, 1, {.bias = true});
    const Tensor split = b.Reshape(head, {1, kAnchors, kFeatures, head.dims[2], head.dims[3]});
    b.Output(b.Sigmoid(b.Transpose(split, {0, 1, 3, 4, 2})), "stride" + std::to_string(stride));
    stride *= 2;
  }
}

// Ge et al. 2021, size nano: depthwise convolutions in body, neck and heads.
void YoloXNano(GraphBuilder& b) {
  constexpr int kBase = 16, kHead = 64;
  constexpr Kind kKind = Kind::kSeparable;
  Tensor x = Unit(b, Focus(b, b.Image(3, 416, 416)), kBase, 3, 1, Act::kSwish);
  std::vector<Tensor> levels;
  for (const auto& [width, count] : {std::pair{2, 1}, {4, 3}, {8, 3}, {16, 1}}) {
    x = Step(b, x, width * kBase, 3, 2, kKind);
    const bool last = width == 16;
    if (last) x = PyramidPool(b, x, width * kBase, Pyramid::kSideBySide);
    x = CspLayer(b, x, {width * kBase, count, !last, kKind});
    if (width > 2) levels.push_back(x);
  }
  std::vector<Tensor> places;
  for (const Tensor& level : PathAggregation(b, levels, kKind)) {
    const Tensor stem = Unit(b, level, kHead, 1, 1, Act::kSwish);
    const auto branch = [&] { return Step(b, Step(b, stem, kHead, 3, 1, kKind), kHead, 3, 1, kKind); };
    const Tensor classes = branch(), boxes = branch();
    const Tensor parts[] = {b.Conv(boxes, 4, 1, {.bias = true}),
                            b.Sigmoid(b.Conv(boxes, 1, 1, {.bias = true})),
                            b.Sigmoid(b.Conv(classes, kClasses, 1, {.bias = true}))};
    const Tensor joined = b.Concat(parts, 1);
    places.push_back(b.Reshape(joined, {1, joined.dims[1], joined.dims[2] * joined.dims[3]}));
  }
  b.Output(b.Transpose(b.Concat(places, 2), {0, 2, 1}), "boxes");
}

// RangiLyu 2021, NanoDet-Plus-m: ShuffleNet v2, GhostPAN, and heads of depthwise 5x5 convolutions that give
// scores of classes and a distribution of each box's four sides over eight distances.
void NanoDet(GraphBuilder& b) {
  constexpr int kChannels = 96, kFeatures = kClasses + 4 * 8;
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 320, 320), 24, 3, 2, Act::kLeaky), 3, {.pad = 1});
  std::vector<Tensor> levels, places;
  for (const auto& [channels, count] : {std::pair{116, 4}, {232, 8}, {464, 4}}) {
    for (int i = 0; i < count; ++i) x = ShuffleUnit(b, x, channels, i == 0, Act::kLeaky);
    levels.push_back(x);
  }
  for (const Tensor& level : GhostPan(b, levels)) {
    Tensor y = level;
    for (int i = 0; i < 2; ++i) y = Step(b, y, kChannels, 5, 1, Kind::kSeparable, Act::kLeaky);
    const Tensor head = b.Conv(y, kFeatures, 1, {.bias = true});
    places.push_back(b.Reshape(head, {1, kFeatures, head.dims[2] * head.dims[3]}));
  }
  b.Output(b.Transpose(b.Concat(places, 2), {0, 2, 1}), "boxes");
}

}  // namespace mete::zoo
