// The best class of a picture: classify MODEL PICTURE
#include <mete/engine.h>
#include <mete/image.h>

#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: classify MODEL PICTURE\n");
    return 2;
  }
  const mete::Model model = mete::Model::Load(argv[1]);
  const mete::Port& input = model.inputs().at(0);
  // The settings of the TOML beside the model (net.onnx, net.toml); without one, pixels go in from 0 to 255.
  const mete::Preprocess steps = mete::PreprocessFor(argv[1], input.type, input.shape);
  if (!steps.values_known)
    std::fprintf(stderr, "%s is missing: the answer may be wrong\n", mete::PreprocessPath(argv[1]).c_str());
  const mete::Tensor picture = mete::MakeInput(mete::LoadImage(argv[2]), steps, input.shape);
  mete::Session session(model);
  const mete::Tensor scores = session.Run({picture}).at(0);
  if (scores.type() != mete::DType::kF32 || scores.shape().rank() < 2 ||
      scores.shape()[1] != scores.elements()) {
    std::fprintf(stderr, "the first output is %s: no scores of classes\n",
                 mete::ToString(scores.shape()).c_str());
    return 1;
  }
  const float* first = scores.as<float>();
  std::printf("class %td\n", std::max_element(first, first + scores.elements()) - first);
} catch (const mete::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
