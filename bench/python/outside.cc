// What a call of Session::Run() takes beside the run that its trace shows: outside MODEL RUNS THREADS. Prints
// the median in microseconds. The same of a call from Python (overhead.py) is longer by what Python adds,
// whatever the run itself takes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mete/engine.h"

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: outside MODEL RUNS THREADS\n");
    return 2;
  }
  const mete::Model model = mete::Model::Load(argv[1]);
  mete::SessionOptions options;
  options.threads = std::atoi(argv[3]);
  options.tune = mete::Tune::kBefore;
  mete::Session session(model, options);
  std::vector<mete::Tensor> inputs;
  for (const mete::Port& port : model.inputs())
    inputs.push_back(
        mete::Tensor::Floats(port.shape, std::vector<float>(size_t(port.shape.Elements()), 0.5f)));
  const size_t runs = size_t(std::max(1, std::atoi(argv[2])));
  std::vector<double> us;
  for (size_t i = 0; i < runs; ++i) {
    mete::Trace trace;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<mete::Tensor> outputs = session.Run(inputs, {.trace = &trace});
    const auto end = std::chrono::steady_clock::now();
    us.push_back(std::chrono::duration<double, std::micro>(end - begin).count() -
                 double(trace.total_ns) * 1e-3);
  }
  std::nth_element(us.begin(), us.begin() + std::ptrdiff_t(runs / 2), us.end());
  std::printf("%.2f\n", us[runs / 2]);
} catch (const mete::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
