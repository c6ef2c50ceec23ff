// A small SSD in Caffe's form, from pictures to boxes, against plain loops over doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tests/caffe_files_testing.h"

namespace mete {
namespace {

constexpr int kImages = 2, kClasses = 3, kPriors = 4;  // priors at each place
constexpr double kConfidence = 0.42, kOverlap = 0.45;
constexpr size_t kTopK = 60, kKeepTopK = 20;
constexpr unsigned kSeed = 377;  // of pictures with a margin that is wide enough

// ---- the network, as a file ----

std::string Conv(const std::string& name, const std::string& bottom, int outputs,
                 const std::string& more = "") {
  return "layer { name: '" + name + "' type: 'Convolution' bottom: '" + bottom + "' top: '" + name +
         "' convolution_param { num_output: " + std::to_string(outputs) + " kernel_size: 3 pad: 1 " + more +
         " } } ";
}

std::string Relu(const std::string& blob) {
  return "layer { name: '" + blob + "_relu' type: 'ReLU' bottom: '" + blob + "' top: '" + blob + "' } ";
}

// A convolution of a feature map whose values are in one row, place by place.
std::string Flat(const std::string& name, const std::string& map, int channels) {
  return Conv(name, map, channels) + "layer { name: '" + name + "_perm' type: 'Permute' bottom: '" + name +
         "' top: '" + name + "_perm' permute_param { order: 0 order: 2 order: 3 order: 1 } } " +
         "layer { name: '" + name + "_flat' type: 'Flatten' bottom: '" + name + "_perm' top: '" + name +
         "_flat' flatten_param { axis: 1 } } ";
}

std::string Head(const std::string& name, const std::string& map, const std::string& sizes) {
  return Flat(name + "_loc", map, kPriors * 4) + Flat(name + "_conf", map, kPriors * kClasses) +
         "layer { name: '" + name + "_priors' type: 'PriorBox' bottom: '" + map + "' bottom: 'data' top: '" +
         name + "_priors' prior_box_param { " + sizes +
         " aspect_ratio: 2 flip: true clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 "
         "offset: 0.5 } } ";
}

std::string Joined(const std::string& what, int axis) {
  return "layer { name: 'mbox_" + what + "' type: 'Concat' bottom: 'near_" + what + "' bottom: 'far_" + what +
         "' top: 'mbox_" + what + "' concat_param { axis: " + std::to_string(axis) + " } } ";
}

std::string Net() {
  return "name: 'ssd' input: 'data' input_shape { dim: 2 dim: 3 dim: 16 dim: 20 } " +
         Conv("conv1", "data", 4, "stride: 2") + Relu("conv1") +
         "layer { name: 'norm' type: 'Normalize' bottom: 'conv1' top: 'norm' norm_param { across_spatial: "
         "false "
         "scale_filler { type: 'constant' value: 20 } channel_shared: false } } " +
         Conv("conv2", "conv1", 6, "stride: 2") + Relu("conv2") +
         Head("near", "norm", "min_size: 4 max_size: 7") + Head("far", "conv2", "min_size: 8 max_size: 13") +
         Joined("loc_flat", 1) + Joined("conf_flat", 1) + Joined("priors", 2) +
         "layer { name: 'rows' type: 'Reshape' bottom: 'mbox_conf_flat' top: 'rows' reshape_param { shape { "
         "dim: 0 "
         "dim: -1 dim: 3 } } } "
         "layer { name: 'softmax' type: 'Softmax' bottom: 'rows' top: 'softmax' softmax_param { axis: 2 } } "
         "layer { name: 'scores' type: 'Flatten' bottom: 'softmax' top: 'scores' flatten_param { axis: 1 } } "
         "layer { name: 'found' type: 'DetectionOutput' bottom: 'mbox_loc_flat' bottom: 'scores' bottom: "
         "'mbox_priors' top: 'found' include { phase: TEST } detection_output_param { num_classes: 3 "
         "share_location: true background_label_id: 0 nms_param { nms_threshold: 0.45 top_k: 60 } "
         "save_output_param { label_map_file: 'labels.prototxt' } code_type: CENTER_SIZE keep_top_k: 20 "
         "confidence_threshold: 0.42 } }";
}

struct Layer {
  std::string name;
  int in, out, stride;
  std::vector<float> weights, bias;
};

std::vector<float> Random(std::mt19937& random, int count, double scale) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = float((double(random() % 2001) / 1000 - 1) * scale);
  return values;
}

std::vector<Layer> Layers() {
  std::mt19937 random(20);
  std::vector<Layer> layers;
  const auto add = [&](const char* name, int in, int out, int stride, double scale) {
    layers.push_back({name, in, out, stride, Random(random, out * in * 9, scale), Random(random, out, 0.2)});
  };
  add("conv1", 3, 4, 2, 0.5);
  add("conv2", 4, 6, 2, 0.4);
  add("near_loc", 4, kPriors * 4, 1, 0.1);
  add("near_conf", 4, kPriors * kClasses, 1, 0.05);
  add("far_loc", 6, kPriors * 4, 1, 0.4);
  add("far_conf", 6, kPriors * kClasses, 1, 0.4);
  return layers;
}

const std::vector<float> kScale = {5, 4, 6, 3};

caffe::Weights WeightsOf(const std::vector<Layer>& layers) {
  caffe::Weights weights;
  for (const Layer& l : layers) {
    AddWeights(weights, l.name, {l.out, l.in, 3, 3}, l.weights);
    AddWeights(weights, l.name, {l.out}, l.bias);
  }
  AddWeights(weights, "norm", {4}, kScale);
  return weights;
}

// ---- the same in plain loops ----

struct Map {
  int channels = 0, height = 0, width = 0;
  std::vector<double> values = {};
  double& at(int c, int y, int x) { return values[size_t((c * height + y) * width + x)]; }
};

Map Convolved(Map in, const Layer& l) {
  Map out{l.out, (in.height - 1) / l.stride + 1, (in.width - 1) / l.stride + 1};
  for (int c = 0; c < l.out; ++c)
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x) {
        double sum = l.bias[size_t(c)];
        for (int k = 0; k < l.in; ++k)
          for (int i = 0; i < 9; ++i) {
            const int from_y = y * l.stride + i / 3 - 1, from_x = x * l.stride + i % 3 - 1;
            if (from_y < 0 || from_x < 0 || from_y >= in.height || from_x >= in.width) continue;
            sum += in.at(k, from_y, from_x) * double(l.weights[size_t((c * l.in + k) * 9 + i)]);
          }
        out.values.push_back(sum);
      }
  return out;
}

Map Rectified(Map map) {
  for (double& v : map.values) v = std::max(v, 0.0);
  return map;
}

Map Normalized(Map map) {
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      double sum = 1e-10;
      for (int c = 0; c < map.channels; ++c) sum += map.at(c, y, x) * map.at(c, y, x);
      for (int c = 0; c < map.channels; ++c) map.at(c, y, x) *= double(kScale[size_t(c)]) / std::sqrt(sum);
    }
  return map;
}

struct Box {
  double x0, y0, x1, y1;
};

struct Candidate {
  double score;
  Box box;
};

struct Found {
  int image, label;
  Candidate candidate;
};

// The least distance of a score or an overlap from where another box would be found: rounding in f32 must be
// smaller.
double margin = 1;

void NoteMargin(double distance) { margin = std::min(margin, std::abs(distance)); }

double OverlapOf(const Box& a, const Box& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
               height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / ((a.x1 - a.x0) * (a.y1 - a.y0) + (b.x1 - b.x0) * (b.y1 - b.y0) - shared);
}

std::vector<Candidate> WithoutOverlaps(std::vector<Candidate> candidates) {
  const auto better = [](const Candidate& a, const Candidate& b) { return a.score > b.score; };
  std::sort(candidates.begin(), candidates.end(), better);
  for (size_t i = 1; i < candidates.size(); ++i) NoteMargin(candidates[i - 1].score - candidates[i].score);
  if (candidates.size() > kTopK) candidates.resize(kTopK);
  std::vector<Candidate> kept;
  for (const Candidate& c : candidates) {
    bool good = true;
    for (const Candidate& k : kept) {
      NoteMargin(OverlapOf(c.box, k.box) - kOverlap);
      good = good && OverlapOf(c.box, k.box) <= kOverlap;
    }
    if (good) kept.push_back(c);
  }
  return kept;
}

// Adds the boxes of one place with their scores, class by class.
void AddPlace(Map& loc, Map& conf, int y, int x, double least, double most,
              std::array<std::vector<Candidate>, kClasses>& of_class) {
  const double root = std::sqrt(least * most), wide = std::sqrt(2.0);
  const double sizes[kPriors][2] = {
      {least, least}, {root, root}, {least * wide, least / wide}, {least / wide, least * wide}};
  for (int p = 0; p < kPriors; ++p) {
    const double width = sizes[p][0] / 20, height = sizes[p][1] / 16;
    const double center_x = (x + 0.5) / loc.width + 0.1 * loc.at(p * 4, y, x) * width,
                 center_y = (y + 0.5) / loc.height + 0.1 * loc.at(p * 4 + 1, y, x) * height;
    const double half_x = width * std::exp(0.2 * loc.at(p * 4 + 2, y, x)) / 2,
                 half_y = height * std::exp(0.2 * loc.at(p * 4 + 3, y, x)) / 2;
    double sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += std::exp(conf.at(p * kClasses + c, y, x));
    for (int c = 1; c < kClasses; ++c) {
      const double score = std::exp(conf.at(p * kClasses + c, y, x)) / sum;
      NoteMargin(score - kConfidence);
      if (score > kConfidence)
        of_class[size_t(c)].push_back(
            {score, {center_x - half_x, center_y - half_y, center_x + half_x, center_y + half_y}});
    }
  }
}

std::vector<Found> FoundIn(int image, const Map& picture, const std::vector<Layer>& l) {
  const Map conv1 = Rectified(Convolved(picture, l[0])), norm = Normalized(conv1),
            conv2 = Rectified(Convolved(conv1, l[1]));
  Map near_loc = Convolved(norm, l[2]), near_conf = Convolved(norm, l[3]), far_loc = Convolved(conv2, l[4]),
      far_conf = Convolved(conv2, l[5]);
  std::array<std::vector<Candidate>, kClasses> of_class;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 10; ++x) AddPlace(near_loc, near_conf, y, x, 4, 7, of_class);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) AddPlace(far_loc, far_conf, y, x, 8, 13, of_class);
  std::vector<Found> all;
  for (int c = 1; c < kClasses; ++c)
    for (const Candidate& k : WithoutOverlaps(of_class[size_t(c)])) all.push_back({image, c, k});
  if (all.size() <= kKeepTopK) return all;
  std::vector<double> scores;
  for (const Found& f : all) scores.push_back(f.candidate.score);
  std::sort(scores.rbegin(), scores.rend());
  NoteMargin(scores[kKeepTopK - 1] - scores[kKeepTopK]);
  std::erase_if(all, [&](const Found& f) { return f.candidate.score < scores[kKeepTopK - 1]; });
  return all;
}

TEST(CaffeSsd, FindsTheBoxesOfAPlainComputation) {
  const std::vector<Layer> layers = Layers();
  std::mt19937 random(kSeed);
  const std::vector<float> pictures = Random(random, kImages * 3 * 16 * 20, 1);
  std::vector<Found> expected;
  for (int n = 0; n < kImages; ++n) {
    const auto first = pictures.begin() + n * 960;
    const auto found = FoundIn(n, {3, 16, 20, {first, first + 960}}, layers);
    expected.insert(expected.end(), found.begin(), found.end());
  }
  // Sums of at most 54 products of f32, each below 2, are wrong by less than 54 * 2 * 2^-24 = 6.5e-6; a score
  // moves by a quarter of that, and so much less than the margin.
  ASSERT_GT(margin, 2e-5);
  ASSERT_EQ(expected.size(), kImages * kKeepTopK);

  const Model model = LoadNet(Net(), WeightsOf(layers));
  for (const bool reference : {true, false}) {
    SCOPED_TRACE(reference ? "reference kernels" : "fast kernels");
    const Tensor found =
        Session(model, {.reference = reference}).Run({Floats({kImages, 3, 16, 20}, pictures)}).at(0);
    ASSERT_EQ(found.shape(), (Shape{1, 1, int64_t(expected.size()), 7}));
    for (size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      const float* row = found.as<float>() + 7 * i;
      const auto& [image, label, candidate] = expected[i];
      EXPECT_EQ(row[0], float(image));
      EXPECT_EQ(row[1], float(label));
      EXPECT_NEAR(row[2], candidate.score, 1e-5);
      const double corners[] = {candidate.box.x0, candidate.box.y0, candidate.box.x1, candidate.box.y1};
      for (int k = 0; k < 4; ++k) EXPECT_NEAR(row[3 + k], corners[k], 1e-5);
    }
  }
}

TEST(CaffeSsd, PriorsAreConstantsAndOneOperatorFindsBoxes) {
  const Model model = LoadNet(Net(), WeightsOf(Layers()));
  const auto& operators = model.stats().operators;
  EXPECT_EQ(operators.at("mete.DetectionOutput"), 1);
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].name, "found");
  EXPECT_FALSE(model.outputs()[0].shape.known());
}

// The number of pictures is open, as in every Caffe net.
TEST(CaffeSsd, AnotherNumberOfPicturesFindsTheSameBoxes) {
  const Model model = LoadNet(Net(), WeightsOf(Layers()));
  std::mt19937 random(kSeed);
  const std::vector<float> pictures = Random(random, kImages * 3 * 16 * 20, 1);
  Session session(model);
  const Tensor both = session.Run({Floats({kImages, 3, 16, 20}, pictures)}).at(0);
  const Tensor one = session.Run({Floats({1, 3, 16, 20}, {pictures.begin(), pictures.begin() + 960})}).at(0);
  int64_t of_first = 0;
  while (of_first < both.shape()[2] && both.as<float>()[7 * of_first] == 0) ++of_first;
  ASSERT_EQ(one.shape(), (Shape{1, 1, of_first, 7}));
  for (int64_t i = 0; i < one.elements(); ++i) EXPECT_NEAR(one.as<float>()[i], both.as<float>()[i], 1e-5);
}

}  // namespace
}  // namespace mete
