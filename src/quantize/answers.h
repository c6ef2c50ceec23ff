// What a network answers on samples, and how far the answers of its 8-bit form are from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "quantize/calibrate.h"

namespace mete {

// The values of a graph that count as its answers: its outputs of f32, before a Softmax, which is for people
// and hides how far scores are from each other.
std::vector<ValueId> AnswerValues(const Graph& graph);

using Answers = std::vector<std::vector<Tensor>>;  // by sample
Answers AnswersOf(const Graph& graph, const Samples& samples, const Runs& runs);
// Returns false for a network without outputs of f32, such as one that ends with an ArgMax.
bool HasAnswers(const Answers& answers);

// How much of a signal is left: sums over any number of tensors.
class SignalToNoise {
 public:
  void Add(const Tensor& exact, const Tensor& other);
  // Decibels: 20 are an error of a tenth of the signal, as root of the mean square. 200 if there is no error,
  // -200 where a value is no finite number.
  double db() const;

 private:
  double signal_ = 0, noise_ = 0;
};
double SignalToNoiseOf(const Answers& exact, const Answers& other);

// Returns for how many samples the largest of the scores is another one, if the first answer has scores of
// classes, a row for each picture; nothing if it has none.
struct Changed {
  int64_t pictures = 0, of = 0;
  double points() const { return of ? 100 * double(pictures) / double(of) : 0; }
};
std::optional<Changed> ChangedClasses(const Answers& exact, const Answers& other);

// The error of a layer's output, with all errors of the layers before it.
struct LayerError {
  std::string node, op;
  bool bytes = false;  // computes on bytes
  double db = 0;
};
// Compares the outputs of the products, sums and averages of `exact` with those of the same names in `other`,
// in the order of the nodes.
std::vector<LayerError> LayerErrors(const Graph& exact, const Graph& other, const Samples& samples,
                                    const Runs& runs);

// Returns every n-th sample, so that there are at most `most`.
Samples SomeOf(const Samples& samples, size_t most);

}  // namespace mete
