// The demo of `make demo`: the classes of a picture, and where the time went: demo MODEL PICTURE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"

namespace {

constexpr int kShown = 5;  // classes, and rows of the table
constexpr int kColumns = 100;

double Ms(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// Returns the indices of the highest scores, the best one first.
std::vector<size_t> Best(const mete::Tensor& scores) {
  const float* score = scores.as<float>();
  std::vector<size_t> classes(size_t(scores.elements()));
  std::iota(classes.begin(), classes.end(), size_t{0});
  std::stable_sort(classes.begin(), classes.end(), [&](size_t a, size_t b) { return score[a] > score[b]; });
  classes.resize(std::min<size_t>(classes.size(), kShown));
  return classes;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: demo MODEL PICTURE\n");
    return 2;
  }
  const mete::Model model = mete::Model::Load(argv[1]);
  const mete::Port& input = model.inputs().at(0);
  const mete::Preprocess steps = mete::PreprocessFor(argv[1], input.type, input.shape);
  const mete::Tensor picture = mete::MakeInput(mete::LoadImage(argv[2]), steps, input.shape);
  mete::Session session(model);
  mete::Trace trace;
  const auto begin = std::chrono::steady_clock::now();
  const mete::Tensor scores = session.Run({picture}, {.trace = &trace}).at(0);
  const double ms = Ms(std::chrono::steady_clock::now() - begin);
  std::printf("%s\nclass   score\n", argv[2]);
  for (const size_t label : Best(scores)) std::printf("%5zu  %.4f\n", label, scores.as<float>()[label]);
  std::printf("answered in %.3f ms\n\n%s\n%s", ms, trace.TableByOperator(kColumns).c_str(),
              trace.Table(kShown, kColumns).c_str());
} catch (const mete::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
