// Conversions of the layers of SSD's heads: PriorBox, whose boxes depend on shapes alone and become a
// constant here, and DetectionOutput.
#include <algorithm>
#include <array>
#include <cmath>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

// This value is a guess: many times what the heads of known networks have at each place (at most 8 boxes).
constexpr int kMaxGiven = 1000;  // sizes or ratios of a layer

struct Extent {
  float width = 0, height = 0;
};

bool IsPositive(float v) { return std::isfinite(v) && v > 0; }

// Returns 1 and the given ratios of width to height that are not there yet, each with its reciprocal behind
// it if the layer flips them.
std::vector<float> Ratios(Layer& l) {
  const auto& p = l.p.prior_box_param();
  if (p.aspect_ratio_size() > kMaxGiven)
    l.Bad("aspect_ratio has too many values; got {}, expected at most {}", p.aspect_ratio_size(), kMaxGiven);
  std::vector<float> ratios = {1};
  for (float ratio : p.aspect_ratio()) {
    if (!IsPositive(ratio) || !IsPositive(1 / ratio)) l.Bad("aspect_ratio must be above 0; got {}", ratio);
    const auto is_same = [&](float known) { return std::abs(ratio - known) < 1e-6f; };
    if (std::any_of(ratios.begin(), ratios.end(), is_same)) continue;
    ratios.push_back(ratio);
    if (p.flip()) ratios.push_back(1 / ratio);
  }
  return ratios;
}

// Returns whole pixels, of which SSD's layer makes its boxes.
float WholePixels(Layer& l, const char* what, float size) {
  if (!IsPositive(size) || size < 1) l.Bad("{} must be from 1 pixel on; got {}", what, size);
  return std::trunc(size);
}

// Returns the sizes of the boxes at one place in their order: of each min_size the square, the square of
// sqrt(min_size * max_size), and the boxes of the other ratios.
std::vector<Extent> BoxSizes(Layer& l) {
  const auto& p = l.p.prior_box_param();
  const std::vector<float> ratios = Ratios(l);
  if (p.min_size_size() < 1 || p.min_size_size() > kMaxGiven)
    l.Bad("min_size has the wrong number of values; got {}, expected 1 to {}", p.min_size_size(), kMaxGiven);
  if (p.max_size_size() && p.max_size_size() != p.min_size_size())
    l.Bad("max_size has the wrong number of values; got {}, expected {} as min_size", p.max_size_size(),
          p.min_size_size());
  std::vector<Extent> sizes;
  for (int i = 0; i < p.min_size_size(); ++i) {
    const float least = WholePixels(l, "min_size", p.min_size(i));
    sizes.push_back({least, least});
    if (p.max_size_size()) {
      if (!(p.max_size(i) > p.min_size(i)))
        l.Bad("max_size must be above min_size; got {} and {}", p.max_size(i), p.min_size(i));
      const float side = float(std::sqrt(double(least) * WholePixels(l, "max_size", p.max_size(i))));
      sizes.push_back({side, side});
    }
    for (size_t r = 1; r < ratios.size(); ++r)
      sizes.push_back({least * std::sqrt(ratios[r]), least / std::sqrt(ratios[r])});
  }
  return sizes;
}

// Returns a size that a layer gives as one number for both directions or as one for each, and {0, 0} if it
// gives none.
Extent Given(Layer& l, const char* what, bool has_both, float both, bool has_width, float width,
             bool has_height, float height) {
  if (has_both && (has_width || has_height))
    l.Bad("{} is given as one number and as one for each direction; expected one of the two", what);
  if (!has_both && !has_width && !has_height) return {};
  const Extent size = has_both ? Extent{both, both} : Extent{width, height};
  if (!IsPositive(size.width) || !IsPositive(size.height))
    l.Bad("{} must be above 0 in both directions; got {} wide and {} high", what, size.width, size.height);
  return size;
}

// Returns the size of the picture: the given one, or that of the second bottom.
Extent PictureSize(Layer& l) {
  const auto& p = l.p.prior_box_param();
  const Extent given = Given(l, "img_size", p.has_img_size(), float(p.img_size()), p.has_img_w(),
                             float(p.img_w()), p.has_img_h(), float(p.img_h()));
  return given.width > 0 ? given : Extent{float(l.shape(1)[3]), float(l.shape(1)[2])};
}

// Returns the distance between places in pixels of the picture.
Extent Steps(Layer& l, const Extent& picture) {
  const auto& p = l.p.prior_box_param();
  const Extent given =
      Given(l, "step", p.has_step(), p.step(), p.has_step_w(), p.step_w(), p.has_step_h(), p.step_h());
  if (given.width > 0) return given;
  return {picture.width / float(l.shape()[3]), picture.height / float(l.shape()[2])};
}

std::array<float, 4> Variances(Layer& l) {
  const auto& given = l.p.prior_box_param().variance();
  if (given.size() > 1 && given.size() != 4)
    l.Bad("variance has the wrong number of values; got {}, expected 1 or 4", given.size());
  std::array<float, 4> variances;
  variances.fill(given.empty() ? 0.1f : given.Get(0));
  if (given.size() == 4) std::copy(given.begin(), given.end(), variances.begin());
  if (!std::all_of(variances.begin(), variances.end(), IsPositive))
    l.Bad("variance must be above 0; got {}", fmt::join(variances, ", "));
  return variances;
}

void NeedPictures(Layer& l) {
  for (int i = 0; i < 2; ++i)
    if (l.shape(i).rank() != 4) l.Bad("PriorBox needs 4 dimensions; got {}", ToString(l.shape(i)));
}

// The output has the corners of all boxes, in fractions of the picture, and behind them their variances.
void PriorBox(Layer& l) {
  NeedPictures(l);
  const auto& p = l.p.prior_box_param();
  const std::vector<Extent> sizes = BoxSizes(l);
  const Extent picture = PictureSize(l), step = Steps(l, picture);
  const std::array<float, 4> variances = Variances(l);
  const int64_t rows = l.shape()[2], columns = l.shape()[3];
  if (!std::isfinite(p.offset())) l.Bad("offset must be a number; got {}", p.offset());
  const Shape shape{1, 2, rows * columns * int64_t(sizes.size()) * 4};
  l.TakeRoom("boxes", shape);

  std::vector<float> values;
  values.reserve(size_t(shape.Elements()));
  const auto add = [&](double v) { values.push_back(float(p.clip() ? std::clamp(v, 0.0, 1.0) : v)); };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      for (const Extent& size : sizes) {
        const double x = (float(column) + p.offset()) * step.width,
                     y = (float(row) + p.offset()) * step.height;
        add((x - size.width / 2.0) / picture.width);
        add((y - size.height / 2.0) / picture.height);
        add((x + size.width / 2.0) / picture.width);
        add((y + size.height / 2.0) / picture.height);
      }
  while (values.size() < size_t(shape.Elements()))
    values.insert(values.end(), variances.begin(), variances.end());
  l.SetTop(0, l.Floats("boxes", shape, values));
}

// Returns bottom i with one row for each image.
ValueId RowOfImage(Layer& l, int i, int64_t columns, const char* what) {
  const Shape in = l.shape(i);
  if (in.rank() < 1 || in.Elements(1, in.rank()) != columns)
    l.Bad("{} do not fit the boxes of the third bottom; got {}, expected {} values for each image", what,
          ToString(in), columns);
  return in.rank() == 2 ? l.in(i) : l.EmitReshape(l.in(i), Shape{in[0], columns});
}

const char* CodeTypeName(caffe::PriorBoxParameter::CodeType type) {
  switch (type) {
    case caffe::PriorBoxParameter::CORNER: return "corner";
    case caffe::PriorBoxParameter::CENTER_SIZE: return "center_size";
    case caffe::PriorBoxParameter::CORNER_SIZE: return "corner_size";
  }
  return "";
}

Attributes AttributesOf(const caffe::DetectionOutputParameter& p) {
  Attributes a;
  a.Set("num_classes", int64_t(p.num_classes()));
  a.Set("share_location", int64_t(p.share_location()));
  a.Set("background_label_id", int64_t(p.background_label_id()));
  a.Set("variance_encoded_in_target", int64_t(p.variance_encoded_in_target()));
  a.Set("code_type", std::string(CodeTypeName(p.code_type())));
  a.Set("nms_threshold", p.nms_param().nms_threshold());
  a.Set("eta", p.nms_param().eta());
  a.Set("top_k", int64_t(p.nms_param().has_top_k() ? p.nms_param().top_k() : -1));
  a.Set("keep_top_k", int64_t(p.keep_top_k()));
  if (p.has_confidence_threshold()) a.Set("confidence_threshold", p.confidence_threshold());
  if (p.clip()) a.Set("clip", int64_t(1));
  return a;
}

bool IsPicture(const Shape& shape) { return shape.rank() == 4 && shape[2] * shape[3] > 1; }

// Bottoms are predictions of boxes, scores and prior boxes. A fourth one is the picture, on which a run of
// Caffe may draw the boxes, and which is not used, or RefineDet's scores of whether a prior box has an
// object. A fifth one has the predictions that move the prior boxes.
void DetectionOutput(Layer& l) {
  const auto& p = l.p.detection_output_param();
  const Shape priors = l.shape(2);
  if (priors.rank() < 3 || priors[0] != 1 || priors[1] != 2 || priors.Elements(2, priors.rank()) % 4)
    l.Bad("the third bottom must have the boxes of PriorBox; got {}, expected 1x2 and 4 for each box",
          ToString(priors));
  if (p.num_classes() < 1) l.Bad("num_classes must be from 1 on; got {}", p.num_classes());
  if (!p.normalized_bbox())
    Fail(Code::kUnimplemented, l.p.name(),
         "boxes in pixels are not supported; got normalized_bbox: false, expected true");
  const int64_t boxes = priors.Elements(2, priors.rank()) / 4, classes = p.num_classes();
  // The scores come first: once they fit, the other product cannot overflow.
  const ValueId scores = RowOfImage(l, 1, boxes * classes, "the scores");
  const ValueId predictions =
      RowOfImage(l, 0, boxes * 4 * (p.share_location() ? 1 : classes), "the predictions");
  const ValueId prior = priors.rank() == 3 ? l.in(2) : l.EmitReshape(l.in(2), Shape{1, 2, boxes * 4});
  std::vector<ValueId> inputs = {predictions, scores, prior};
  Attributes attributes = AttributesOf(p);
  if (l.bottoms() == 5 || (l.bottoms() == 4 && !IsPicture(l.shape(3)))) {
    inputs.push_back(RowOfImage(l, 3, boxes * 2, "the scores of objects"));
    attributes.Set("objectness_score", p.objectness_score());
  }
  if (l.bottoms() == 5)
    inputs.push_back(RowOfImage(l, 4, boxes * 4, "the predictions that move prior boxes"));
  l.SetTop(0, l.EmitLast("mete.DetectionOutput", std::move(inputs), std::move(attributes)));
}

// Bottoms are a feature map and regions: rows of the number of an image and two corners.
void RoiPooling(Layer& l) {
  const auto& p = l.p.roi_pooling_param();
  Shape rois = l.shape(1);
  if (l.shape().rank() != 4 || rois.rank() < 2 || rois.Elements(1, rois.rank()) != 5)
    l.Bad("ROIPooling needs an image and regions of 5 numbers; got {} and {}", ToString(l.shape()),
          ToString(rois));
  if (p.pooled_h() < 1 || p.pooled_w() < 1 || std::max(p.pooled_h(), p.pooled_w()) > uint32_t(INT16_MAX))
    l.Bad("pooled_h or pooled_w is out of range; got {} and {}, expected 1 to {}", p.pooled_h(), p.pooled_w(),
          INT16_MAX);
  Attributes a;
  a.Set("pooled_shape", Ints{int64_t(p.pooled_h()), int64_t(p.pooled_w())});
  a.Set("spatial_scale", p.spatial_scale());
  const ValueId regions = rois.rank() == 2 ? l.in(1) : l.EmitReshape(l.in(1), Shape{rois[0], 5});
  l.SetTop(0, l.Emit("MaxRoiPool", {l.in(), regions}, std::move(a)));
}

constexpr LayerType kDetectionLayers[] = {{"DetectionOutput", 3, 5, 1, DetectionOutput},
                                          {"PriorBox", 2, 2, 1, PriorBox},
                                          {"ROIPooling", 2, 2, 1, RoiPooling}};

}  // namespace

std::span<const LayerType> DetectionLayers() { return kDetectionLayers; }

}  // namespace mete::caffe_import
