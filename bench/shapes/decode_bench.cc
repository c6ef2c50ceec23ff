// Measures what a changing shape costs: a decoder with a growing cache makes 256 tokens, one session for all
// lengths. The cost of a step beyond its arithmetic is its time minus that of a session that was made for
// this length alone and runs it again and again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "engine/decoder_testing.h"
#include "mete/statistics.h"

namespace mete {
namespace {

constexpr int kTokens = 256;
constexpr int kRounds = 7;      // decodings; the median of a length's steps counts
constexpr int kFixedRuns = 21;  // of the session for one length

// 0.8 million multiply-adds for each token, and those of attention
constexpr DecoderSize kSize{.layers = 2, .heads = 4, .head_size = 32, .vocabulary = 256, .longest = 512};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class F>
double UsOf(F&& f) {
  const int64_t start = NowNs();
  f();
  return double(NowNs() - start) * 1e-3;
}

std::vector<Tensor> Next(const std::vector<Tensor>& outputs, int64_t token) {
  return {Tensor::Of<int64_t>(DType::kI64, {1, 1}, std::vector{token % kSize.vocabulary}), outputs[1],
          outputs[2]};
}

struct Decoded {
  std::vector<std::vector<double>> us{kTokens};  // of the steps of each length
  std::vector<std::vector<Tensor>> inputs;       // of each length
  ShapeStats stats;
};

Decoded Decode(const std::string& path, const SessionOptions& options) {
  Session session(Model::Load(path, {.input_shapes = {{"T", {1}}, {"P", {kTokens}}}}), options);
  Decoded decoded;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Tensor> inputs = DecoderInputs(kSize, {1}), outputs;
    for (int length = 0; length < kTokens; ++length) {
      if (round == 0) decoded.inputs.push_back(inputs);
      decoded.us[size_t(length)].push_back(UsOf([&] { outputs = session.Run(inputs); }));
      inputs = Next(outputs, length);
    }
  }
  decoded.stats = session.shape_stats();
  return decoded;
}

struct Fixed {
  std::vector<double> run_us, make_us;  // of each length
  ShapeStats last;
};

Fixed RunFixed(const std::string& path, const Decoded& decoded, const SessionOptions& options) {
  Fixed fixed;
  for (int64_t length = 0; length < kTokens; ++length) {
    std::optional<Session> session;
    fixed.make_us.push_back(UsOf([&] {
      session.emplace(Model::Load(path, {.input_shapes = {{"T", {1}}, {"P", {length}}}}), options);
    }));
    std::vector<double> us;
    for (int run = 0; run < kFixedRuns; ++run)
      us.push_back(UsOf([&] { session->Run(decoded.inputs[size_t(length)]); }));
    fixed.run_us.push_back(Median(us));
    fixed.last = session->shape_stats();
  }
  return fixed;
}

void Report(const Decoded& decoded, const Fixed& fixed) {
  std::vector<double> step, beyond;
  for (size_t length = 0; length < kTokens; ++length) {
    step.push_back(Median(decoded.us[length]));
    beyond.push_back(step.back() - fixed.run_us[length]);
  }
  std::sort(beyond.begin(), beyond.end());
  std::printf("%d tokens, medians over the lengths\n", kTokens);
  std::printf("step of the growing session   %8.1f us\n", Median(step));
  std::printf("step of a session made for it %8.1f us\n", Median(fixed.run_us));
  std::printf("beyond its arithmetic         %8.1f us, a tenth of the steps above %.1f us\n",
              beyond[kTokens / 2], beyond[kTokens * 9 / 10]);
  std::printf("a Model and a Session anew    %8.1f us\n", Median(fixed.make_us));
  std::printf("activations %.1f KiB, made for the last length alone %.1f KiB\n",
              double(decoded.stats.arena_bytes) / 1024, double(fixed.last.arena_bytes) / 1024);
  std::printf("packed weights %.1f KiB, made for the last length alone %.1f KiB\n",
              double(decoded.stats.packed_bytes) / 1024, double(fixed.last.packed_bytes) / 1024);
  std::printf("plans %lld, runs of the passes %lld %s\n", static_cast<long long>(decoded.stats.planned),
              static_cast<long long>(decoded.stats.passes), decoded.stats.note.c_str());
}

}  // namespace
}  // namespace mete

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const mete::ModelFile file(mete::DecoderNet(mete::kSize).Make());
  const mete::SessionOptions options = mete::SessionOptions::Estimated(threads);
  const mete::Decoded decoded = mete::Decode(file.path(), options);
  mete::Report(decoded, mete::RunFixed(file.path(), decoded, options));
}
