// What a run gave, for people: the best classes where an output can be scores of classes, else what each
// output is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "ranking.h"

namespace mete::cli {

// What a run gave, and for which picture (empty: for tensors; several: for a batch whose outputs cannot be
// told apart).
struct Answer {
  // turned: of each, how its EXIF orientation had it turned, or ""
  std::vector<std::string> pictures, turned;
  std::vector<Tensor> outputs;
  double ms = 0;      // of the run
  int64_t batch = 1;  // pictures, or rows of tensors, in that run
  int64_t row = -1;   // the row of the tensors; -1: the answer has all rows, or is a picture's
};

// Whether a row of the output can be scores of classes: CxN or CxNx1x1 for C pictures, of two classes or
// more.
bool CanBeClasses(const Shape& shape);

// The index of the output to rank: the output of that name; or, if `wanted`, the only output that can be
// classes. -1: none. UsageError if no output has the name, or the output of that name cannot be classes.
int ClassifiedOutput(const Model& model, const std::string& name, bool wanted);

// How an answer is printed.
struct AnswerStyle {
  int classified = -1;
  int top_k = 5;
  bool softmax = false;
  std::vector<std::string> labels;
};

// Divides the answer of a batch into one answer for each picture, or, of a run on tensors, for each row of
// the output that is ranked. The answer stays whole if an output has another number of rows.
std::vector<Answer> AnswersOf(Answer batch, const AnswerStyle& style);

void PrintAnswer(const Model& model, const Answer& answer, const AnswerStyle& style);
Json AnswerJson(const Model& model, const Answer& answer, const AnswerStyle& style);

// What is wrong with names for so many classes; empty: nothing.
std::string LabelsProblem(const std::string& path, size_t names, const Port& output);

}  // namespace mete::cli
