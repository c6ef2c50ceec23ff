// The best class of a picture: classify MODEL PICTURE
#include <mete/engine.h>
#include <mete/image.h>

#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: classify MODEL PICTURE\n"), 2;
  const mete::Model model = mete::Model::Load(argv[1]);
  const mete::Shape& wanted = model.inputs().at(0).shape;  // 1x3xHxW
  mete::Preprocess steps{.resize_width = int(wanted[3]), .resize_height = int(wanted[2])};
  mete::Session session(model);
  const mete::Tensor scores = session.Run(std::vector{mete::MakeInput(mete::LoadImage(argv[2]), steps)}).at(0);
  const float* first = scores.as<float>();
  std::printf("class %td\n", std::max_element(first, first + scores.elements()) - first);
} catch (const mete::Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
