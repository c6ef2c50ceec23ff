// Prints the results of a run for people: the best classes if an output can be scores of classes, otherwise a
// summary of each output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ranking.h"
#include "context.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "pictures.h"
#include "show.h"
#include "show_text.h"

namespace mete::cli {

// The results of a run, and the pictures that they belong to. `pictures` is empty for a run on tensors; it
// has several names for a batch whose outputs cannot be divided.
struct Answer {
  // turned[i] says how picture i was turned because of its EXIF orientation; "" if it was not
  std::vector<std::string> pictures, turned;
  std::vector<Tensor> outputs;
  double ms = 0;      // milliseconds of the run
  int64_t batch = 1;  // number of pictures, or of rows of tensors, in that run
  int64_t row = -1;   // the row of the tensors; -1: the answer has all rows, or belongs to a picture
  std::vector<Image> images = {};     // of the pictures, where something is looked for in them
  std::optional<Found> found = {};    // what was found
  std::optional<SaidText> said = {};  // the text, where outputs are tokens
};

// Returns the index of the output to rank: the output called `name`; or, if `wanted`, the only output that
// can be classes; or -1. `setting` fails if no output has the name, or the output of that name cannot be
// classes.
int ClassifiedOutput(const Model& model, const std::string& name, bool wanted, const PictureSetting& setting);

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

// Returns what is wrong with `names` labels for the classes of `output`, or "".
std::string LabelsProblem(const std::string& path, size_t names, const Port& output);

}  // namespace mete::cli
