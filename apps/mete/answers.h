// What a run gave, for people: the best classes where an output can be scores of classes, else what each output is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "ranking.h"

namespace mete::cli {

// What a run gave, and for which picture (empty: for tensors; several: for a batch whose outputs cannot be told apart).
struct Answer {
  std::vector<std::string> pictures, turned;  // turned: of each, how its EXIF orientation had it turned, or ""
  std::vector<Tensor> outputs;
  double ms = 0;   // of the run
  int64_t batch = 1;  // pictures of that run, or rows
  int64_t row = -1;   // of a run on tensors whose rows are ranked one by one
};

// Whether a row of the output can be scores of classes: CxN or CxNx1x1 for C pictures, of two classes or more.
bool CanBeClasses(const Shape& shape);

// The output that is ranked, -1 for none: the one of that name, or where classes are wanted the only one that can be classes. UsageError where the name is
// of none, or of one that cannot be classes.
int ClassifiedOutput(const Model& model, const std::string& name, bool wanted);

// How an answer is printed.
struct AnswerStyle {
  int classified = -1;
  int top_k = 5;
  bool softmax = false;
  std::vector<std::string> labels;
};

// Of a batch an answer for each picture, or for each row of the output that is ranked, where every output has as many rows; else the answer
// itself.
std::vector<Answer> AnswersOf(Answer batch, const AnswerStyle& style);

void PrintAnswer(const Model& model, const Answer& answer, const AnswerStyle& style);
Json AnswerJson(const Model& model, const Answer& answer, const AnswerStyle& style);

// What is wrong with names for so many classes; empty: nothing.
std::string LabelsProblem(const std::string& path, size_t names, const Port& output);

}  // namespace mete::cli
