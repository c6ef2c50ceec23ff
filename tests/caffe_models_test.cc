// Compares each trained Caffe network with the same network in ONNX, both run by the engine on seeded random
// input.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "mete/engine.h"

namespace mete {
namespace {

struct Twin {
  const char* name;
  const char* input;
  Shape shape;
};

void PrintTo(const Twin& twin, std::ostream* out) { *out << twin.name; }

class CaffeTwin : public testing::TestWithParam<Twin> {};

std::vector<Tensor> Outputs(const Model& model, const Tensor& input) {
  return Session(model, {.reference = true}).Run(std::vector<Tensor>{input});
}

TEST_P(CaffeTwin, GivesWhatItsOnnxFileGives) {
  const Twin& twin = GetParam();
  const char* shared = std::getenv("METE_SHARED");
  const std::filesystem::path folder = std::filesystem::path(shared ? shared : "../shared") / "models";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is missing: the trained models are not in the repository";
  LoadOptions options;
  options.input_shapes[twin.input] = twin.shape;
  const Model caffe = Model::Load(folder / (std::string(twin.name) + ".prototxt"), options);
  const Model onnx = Model::Load(folder / (std::string(twin.name) + ".onnx"), options);

  Tensor input(DType::kF32, twin.shape);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < input.elements(); ++i)
    static_cast<float*>(input.mutable_view().data)[i] = uniform(random);
  const auto ours = Outputs(caffe, input), theirs = Outputs(onnx, input);

  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    size_t j = 0;  // the files may list their outputs in another order
    while (j < theirs.size() && onnx.outputs()[j].name != caffe.outputs()[i].name) ++j;
    ASSERT_LT(j, theirs.size()) << caffe.outputs()[i].name;
    ASSERT_EQ(ours[i].shape(), theirs[j].shape());
    float most = 0, scale = 0;
    for (int64_t e = 0; e < ours[i].elements(); ++e) {
      most = std::max(most, std::abs(ours[i].as<float>()[e] - theirs[j].as<float>()[e]));
      scale = std::max(scale, std::abs(theirs[j].as<float>()[e]));
    }
    EXPECT_LE(most, 1e-4f * scale) << caffe.outputs()[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, CaffeTwin,
                         testing::Values(Twin{"squeezenet_v1.1", "data", Shape{1, 3, 227, 227}},
                                         Twin{"mtcnn_det1", "data", Shape{1, 3, 31, 24}},
                                         Twin{"mtcnn_det2", "data", Shape{2, 3, 24, 24}},
                                         Twin{"mtcnn_det3", "data", Shape{2, 3, 48, 48}},
                                         Twin{"ultraface_rfb320", "input", Shape{1, 3, 240, 320}}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace mete
