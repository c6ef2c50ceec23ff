// PriorBox and DetectionOutput.
#include <array>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

// A feature map of two places, one row, for a picture of 20 x 10 pixels.
std::string Priors(const std::string& parameters) {
  return InputLayer("map", {1, 1, 1, 2}) + InputLayer("data", {1, 3, 10, 20}) +
         "layer { name: 'l' type: 'PriorBox' bottom: 'map' bottom: 'data' top: 'y' prior_box_param { " +
         parameters + " } }";
}

// Returns the values of the net's only output, a constant.
std::vector<float> Values(const std::string& net) {
  const Imported i = Import(net);
  Verify(i.graph);
  EXPECT_TRUE(i.graph.nodes.empty());
  const Tensor& t = i.graph.value(i.graph.outputs.at(0)).constant;
  return {t.as<float>(), t.as<float>() + t.elements()};
}

// Compares the boxes, which are the first half, with corners in pixels of a picture of that size.
void ExpectBoxes(const std::vector<float>& values, const std::vector<std::array<double, 4>>& boxes,
                 double width = 20, double height = 10) {
  ASSERT_EQ(values.size(), 8 * boxes.size());
  for (size_t b = 0; b < boxes.size(); ++b)
    for (size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(values[4 * b + k], boxes[b][k] / (k % 2 ? height : width), 1e-6)
          << "box " << b << ", " << k;
}

TEST(PriorBox, SquaresComeBeforeTheOtherRatiosAtEachPlace) {
  // The places are at (5, 5) and (15, 5). The sizes are 4x4, 6x6 (the root of 4 * 9), 8x2 (ratio 4) and 2x8.
  const auto values = Values(Priors("min_size: 4 max_size: 9 aspect_ratio: 4"));
  ExpectBoxes(values, {{3, 3, 7, 7},
                       {2, 2, 8, 8},
                       {1, 4, 9, 6},
                       {4, 1, 6, 9},
                       {13, 3, 17, 7},
                       {12, 2, 18, 8},
                       {11, 4, 19, 6},
                       {14, 1, 16, 9}});
  for (size_t i = 32; i < 64; ++i) EXPECT_EQ(values[i], 0.1f);  // a variance that is not given
}

TEST(PriorBox, EachMinSizeHasItsMaxSizeAndAllRatios) {
  // Equal ratios count once, and a ratio of 1 is the square that is there already.
  ExpectBoxes(
      Values(Priors("min_size: 2 min_size: 4 max_size: 8 max_size: 16 aspect_ratio: 1 aspect_ratio: 4 "
                    "aspect_ratio: 4 flip: false")),
      {{4, 4, 6, 6},
       {3, 3, 7, 7},
       {3, 4.5, 7, 5.5},
       {3, 3, 7, 7},
       {1, 1, 9, 9},
       {1, 4, 9, 6},
       {14, 4, 16, 6},
       {13, 3, 17, 7},
       {13, 4.5, 17, 5.5},
       {13, 3, 17, 7},
       {11, 1, 19, 9},
       {11, 4, 19, 6}});
}

TEST(PriorBox, SizesAreWholePixels) {
  ExpectBoxes(Values(Priors("min_size: 4.9 max_size: 9.9")),
              {{3, 3, 7, 7}, {2, 2, 8, 8}, {13, 3, 17, 7}, {12, 2, 18, 8}});
}

TEST(PriorBox, StepOffsetAndPictureMayBeGiven) {
  ExpectBoxes(Values(Priors("min_size: 2 step: 8 offset: 0.25")), {{1, 1, 3, 3}, {9, 1, 11, 3}});
  ExpectBoxes(Values(Priors("min_size: 2 step_w: 8 step_h: 4")), {{3, 1, 5, 3}, {11, 1, 13, 3}});
  ExpectBoxes(Values(Priors("min_size: 2 img_size: 40")), {{9, 19, 11, 21}, {29, 19, 31, 21}}, 40, 40);
  ExpectBoxes(Values(Priors("min_size: 2 img_w: 40 img_h: 10")), {{9, 4, 11, 6}, {29, 4, 31, 6}}, 40, 10);
}

TEST(PriorBox, ClipKeepsCornersInThePicture) {
  ExpectBoxes(Values(Priors("min_size: 12")), {{-1, -1, 11, 11}, {9, -1, 21, 11}});
  ExpectBoxes(Values(Priors("min_size: 12 clip: true")), {{0, 0, 11, 10}, {9, 0, 20, 10}});
}

TEST(PriorBox, OneOrFourVariances) {
  const auto one = Values(Priors("min_size: 2 variance: 0.5"));
  EXPECT_EQ(std::vector<float>(one.begin() + 8, one.end()), std::vector<float>(8, 0.5f));
  const auto four = Values(Priors("min_size: 2 variance: 0.1 variance: 0.2 variance: 0.3 variance: 0.4"));
  EXPECT_EQ(std::vector<float>(four.begin() + 8, four.end()),
            (std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f, 0.1f, 0.2f, 0.3f, 0.4f}));
}

TEST(PriorBox, BadParameters) {
  for (const auto& [parameters, problem] : std::vector<std::array<const char*, 2>>{
           {"", "min_size has the wrong number of values; got 0"},
           {"min_size: 0", "min_size must be from 1 pixel on; got 0"},
           {"min_size: -4", "min_size must be from 1 pixel on; got -4"},
           {"min_size: nan", "min_size must be from 1 pixel on; got nan"},
           {"min_size: inf", "min_size must be from 1 pixel on; got inf"},
           {"min_size: 4 max_size: 5 max_size: 6",
            "max_size has the wrong number of values; got 2, expected 1"},
           {"min_size: 4 max_size: 4", "max_size must be above min_size; got 4 and 4"},
           {"min_size: 4 max_size: nan", "max_size must be above min_size; got nan and 4"},
           {"min_size: 4 aspect_ratio: 0", "aspect_ratio must be above 0; got 0"},
           {"min_size: 4 aspect_ratio: -2", "aspect_ratio must be above 0; got -2"},
           {"min_size: 4 variance: 0", "variance must be above 0; got 0, 0, 0, 0"},
           {"min_size: 4 variance: 1 variance: 2", "variance has the wrong number of values; got 2"},
           {"min_size: 4 img_size: 0", "img_size must be above 0 in both directions"},
           {"min_size: 4 img_w: 9", "img_size must be above 0 in both directions; got 9 wide and 0 high"},
           {"min_size: 4 img_size: 9 img_h: 9 img_w: 9",
            "img_size is given as one number and as one for each"},
           {"min_size: 4 step: -1", "step must be above 0 in both directions"},
           {"min_size: 4 step: 1 step_h: 1", "step is given as one number and as one for each"},
           {"min_size: 4 offset: nan", "offset must be a number"},
           {"min_size: 4 density: 2", "PriorBoxParameter has an unknown field; got density"}})
    ExpectHas(MessageOf(Priors(parameters), "", Code::kInvalidArgument), problem);
  ExpectHas(MessageOf(InputLayer("map", {1, 4}) +
                          "layer { name: 'l' type: 'PriorBox' bottom: 'map' bottom: 'map' top: 'y' "
                          "prior_box_param { min_size: 3 } }",
                      "", Code::kInvalidArgument),
            "[l] PriorBox needs 4 dimensions; got 1x4");
}

TEST(PriorBox, ManyBoxesAreBoundedBeforeTheyAreMade) {
  std::string parameters;
  for (int i = 0; i < 1000; ++i) parameters += "min_size: 3 aspect_ratio: " + std::to_string(i + 2) + " ";
  ImportOptions options;
  options.max_value_bytes = 1 << 20;
  ExpectHas(MessageOf(Priors(parameters), "", Code::kInvalidArgument, options),
            "its boxes has impossible dimensions; got 1x2x16008000");
  ExpectHas(MessageOf(Priors(parameters + "min_size: 3"), "", Code::kInvalidArgument),
            "min_size has the wrong number of values; got 1001, expected 1 to 1000");
  ExpectHas(MessageOf(Priors(parameters + "aspect_ratio: 3"), "", Code::kInvalidArgument),
            "aspect_ratio has too many values; got 1001, expected at most 1000");
}

// Two images, three boxes, of which each has two classes.
std::string Detections(const std::string& parameters, const std::string& more = "") {
  return InputLayer("loc", {2, 12}) + InputLayer("conf", {2, 6}) + InputLayer("priors", {1, 2, 12}) +
         "layer { name: 'l' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'priors' top: 'y' "
         "detection_output_param { " +
         parameters + " } } " + more;
}

TEST(DetectionOutput, BecomesOneOperatorWithTheParametersOfTheLayer) {
  const Imported plain = Import(Detections("num_classes: 2"));
  EXPECT_EQ(Summary(plain.graph), "mete.DetectionOutput -> y ?");
  const Attributes& a = plain.graph.nodes[0].attributes;
  EXPECT_EQ(a.Int("num_classes", 0), 2);
  EXPECT_EQ(a.Int("share_location", 0), 1);
  EXPECT_EQ(a.Int("background_label_id", 7), 0);
  EXPECT_EQ(a.Int("variance_encoded_in_target", 7), 0);
  EXPECT_EQ(a.String("code_type", ""), "corner");
  EXPECT_EQ(a.Float("nms_threshold", 0), 0.3f);
  EXPECT_EQ(a.Float("eta", 0), 1);
  EXPECT_EQ(a.Int("top_k", 7), -1);
  EXPECT_EQ(a.Int("keep_top_k", 7), -1);
  EXPECT_FALSE(a.Has("confidence_threshold"));

  const Imported all = Import(Detections(
      "num_classes: 2 background_label_id: -1 code_type: CENTER_SIZE variance_encoded_in_target: true "
      "keep_top_k: 5 confidence_threshold: 0.25 nms_param { nms_threshold: 0.5 top_k: 40 eta: 0.75 } "
      "save_output_param { label_map_file: 'labels.prototxt' resize_param { prob: 1 } } visualize: true"));
  const Attributes& b = all.graph.nodes[0].attributes;
  EXPECT_EQ(b.Int("background_label_id", 7), -1);
  EXPECT_EQ(b.Int("variance_encoded_in_target", 7), 1);
  EXPECT_EQ(b.String("code_type", ""), "center_size");
  EXPECT_EQ(b.Float("nms_threshold", 0), 0.5f);
  EXPECT_EQ(b.Float("eta", 0), 0.75f);
  EXPECT_EQ(b.Int("top_k", 7), 40);
  EXPECT_EQ(b.Int("keep_top_k", 7), 5);
  EXPECT_EQ(b.Float("confidence_threshold", 0), 0.25f);
}

TEST(DetectionOutput, FiveBottomsAreThoseOfRefineDet) {
  const auto net = [](const std::string& object) {
    return InputLayer("loc", {2, 12}) + InputLayer("conf", {2, 6}) + InputLayer("priors", {1, 2, 12}) +
           InputLayer("object", {2, 6}) + InputLayer("move", {2, 12}) +
           "layer { name: 'l' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'priors' bottom: "
           "'" +
           object +
           "' bottom: 'move' top: 'y' detection_output_param { num_classes: 2 objectness_score: 0.25 } }";
  };
  const Imported i = Import(net("object"));
  EXPECT_EQ(Summary(i.graph), "mete.DetectionOutput -> y ?");
  EXPECT_EQ(i.graph.nodes[0].inputs.size(), 5u);
  EXPECT_EQ(i.graph.nodes[0].attributes.Float("objectness_score", 0), 0.25f);
  ExpectHas(MessageOf(net("move"), "", Code::kInvalidArgument),
            "the scores of objects do not fit the boxes of the third bottom; got 2x12, expected 6 values");
}

TEST(DetectionOutput, AFourthBottomIsAPictureOrTheScoresOfObjects) {
  const auto inputs = [](const std::vector<int64_t>& fourth) {
    const std::string net =
        InputLayer("loc", {2, 12}) + InputLayer("conf", {2, 6}) + InputLayer("priors", {1, 2, 12}) +
        InputLayer("fourth", fourth) +
        "layer { name: 'l' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'priors' bottom: "
        "'fourth' top: 'y' detection_output_param { num_classes: 2 objectness_score: 0.25 } }";
    return Import(net).graph.nodes.at(0).inputs.size();
  };
  EXPECT_EQ(inputs({2, 3, 8, 8}), 3u);
  EXPECT_EQ(inputs({2, 6}), 4u);
}

TEST(RoiPooling, BecomesAPoolOfRegions) {
  const auto net = [](const std::string& parameters) {
    return InputLayer("map", {1, 3, 8, 9}) + InputLayer("rois", {4, 5, 1, 1}) +
           "layer { name: 'l' type: 'ROIPooling' bottom: 'map' bottom: 'rois' top: 'y' roi_pooling_param { " +
           parameters + " } }";
  };
  const Imported i = Import(net("pooled_h: 2 pooled_w: 3 spatial_scale: 0.0625"));
  EXPECT_EQ(Summary(i.graph), "Reshape MaxRoiPool -> y 4x3x2x3");
  EXPECT_EQ(i.graph.nodes[1].attributes.IntList("pooled_shape"), (Ints{2, 3}));
  EXPECT_EQ(i.graph.nodes[1].attributes.Float("spatial_scale", 0), 0.0625f);
  ExpectHas(MessageOf(net("pooled_h: 2"), "", Code::kInvalidArgument),
            "[l] pooled_h or pooled_w is out of range; got 2 and 0, expected 1 to 32767");
}

TEST(DetectionOutput, BottomsMayHaveMoreDimensions) {
  EXPECT_EQ(Summary(Import(InputLayer("loc", {2, 12, 1, 1}) + InputLayer("conf", {2, 3, 2}) +
                           InputLayer("priors", {1, 2, 12, 1}) +
                           "layer { name: 'l' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: "
                           "'priors' top: 'y' detection_output_param { num_classes: 2 } }")
                        .graph),
            "Reshape Reshape Reshape mete.DetectionOutput -> y ?");
}

TEST(DetectionOutput, BadParameters) {
  for (const auto& [parameters, problem] : std::vector<std::array<const char*, 2>>{
           {"", "num_classes must be from 1 on; got 0"},
           {"num_classes: 3",
            "the scores do not fit the boxes of the third bottom; got 2x6, expected 9 values"},
           {"num_classes: 4294967295", "the scores do not fit the boxes of the third bottom"},
           {"num_classes: 2 share_location: false",
            "the predictions do not fit the boxes of the third bottom; got 2x12, expected 24 values"},
           {"num_classes: 2 nms_param { nms_threshold: -1 }", "nms_threshold must be from 0 on; got -1"},
           {"num_classes: 2 nms_param { nms_threshold: nan }", "nms_threshold must be from 0 on; got nan"},
           {"num_classes: 2 nms_param { eta: 0 }", "eta must be above 0 and at most 1; got 0"},
           {"num_classes: 2 nms_param { eta: 1.5 }", "eta must be above 0 and at most 1; got 1.5"},
           {"num_classes: 2 confidence_threshold: nan", "confidence_threshold must be a number"},
           {"num_classes: 2 objectness: 0.1",
            "DetectionOutputParameter has an unknown field; got objectness; try objectness_score"}})
    ExpectHas(MessageOf(Detections(parameters), "", Code::kInvalidArgument), problem);
  ExpectHas(
      MessageOf(InputLayer("x", {2, 12}) +
                    "layer { name: 'l' type: 'DetectionOutput' bottom: 'x' bottom: 'x' bottom: 'x' top: "
                    "'y' detection_output_param { num_classes: 2 } }",
                "", Code::kInvalidArgument),
      "[l] the third bottom must have the boxes of PriorBox; got 2x12");
}

TEST(DetectionOutput, NoLayerCanReadItsOutput) {
  ExpectHas(MessageOf(Detections("num_classes: 2", "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'r' }"),
                      "", Code::kUnimplemented),
            "[r] the shape of bottom 'y' depends on data, so that no layer can read it");
  // What compares detections with labels is left out, as all measures are.
  const Imported i = Import(
      Detections("num_classes: 2",
                 "layer { name: 'e' type: 'DetectionEvaluate' bottom: 'y' bottom: 'label' top: 'e' }"));
  EXPECT_EQ(Summary(i.graph), "mete.DetectionOutput -> y ?");
  ASSERT_EQ(i.notes.size(), 1u);
  EXPECT_EQ(i.notes[0], "layer 'e' of type DetectionEvaluate is left out");
}

// Weights of other forks may number their layers' parameters as they like: names and blobs are all that
// counts.
TEST(DetectionOutput, WeightsWithTheLayersOfAForkAreRead) {
  caffe::Weights w;
  w.ParseFromString(Model("l", {{6}}));
  auto* fields = w.mutable_layer(0)->GetReflection()->MutableUnknownFields(w.mutable_layer(0));
  for (int number : {202, 203, 204, 206, 1001}) {
    fields->AddVarint(number, 7);
    fields->AddLengthDelimited(number, "\xff\xff no message");
  }
  const std::string net = InputLayer("map", {1, 6, 2, 2}) +
                          "layer { name: 'l' type: 'Normalize' bottom: 'map' top: 'y' norm_param { "
                          "channel_shared: false } }";
  EXPECT_EQ(Summary(Import(net, w.SerializeAsString()).graph), "mete.Normalize -> y 1x6x2x2");
}

}  // namespace
}  // namespace mete
