#include <fmt/format.h>

#include "run_parts.h"
#include "terminal.h"
#include "text_file.h"
#include "zoo/zoo.h"

namespace mete::cli {

Preprocess TextSettings(const RunFlags& flags) {
  return PreprocessOf(flags.model.model, Port{}, flags.preprocess);
}

TextReader ReaderFor(const RunFlags& flags) {
  if (!flags.show.tokens()) return {};
  const Preprocess settings = TextSettings(flags);
  return ReaderOfText(settings.tokenizer, settings.top_k);
}

AnswerStyle StyleFor(const RunFlags& flags, const Loaded& loaded, const Context& context) {
  const Preprocess& p = loaded.preprocess;
  const bool pictures = !flags.pictures.empty();
  const Preprocess settings =
      pictures
          ? p
          : PreprocessOf(flags.model.model, loaded.model.inputs().empty() ? Port{} : loaded.model.inputs()[0],
                         flags.preprocess);
  const auto setting = [&](const char* key) {
    return PictureSetting(flags.preprocess, flags.model.model, key);
  };
  const bool top_k = flags.preprocess.given("top_k");
  if (flags.preprocess.given("pad") && !settings.letterbox)
    PrintNote(context, "[--pad] nothing is filled without --letterbox, so it changes nothing");
  CheckHead(flags.show, settings, setting("head"));
  if (flags.show.tokens()) return {};
  if (loaded.finds()) {
    AnswerStyle style;
    if (!settings.labels.empty())
      style.labels = LabelsIn(ReadTextFile(settings.labels, setting("labels").where()));
    return style;
  }
  // classes of tensors are ranked only if the user asks for that
  const bool wants_classes = pictures || top_k || settings.softmax || !settings.labels.empty();
  AnswerStyle style{ClassifiedOutput(loaded.model, settings.classify, wants_classes, setting("classify")),
                    settings.top_k,
                    settings.softmax,
                    {}};
  if (style.classified < 0 && (top_k || settings.softmax || !settings.labels.empty()))
    PrintNote(context,
              "no output is the only one that can be scores of classes, so nothing is ranked; try --classify "
              "with an output's name");
  if (style.classified < 0 || settings.labels.empty()) return style;
  style.labels = LabelsIn(ReadTextFile(settings.labels, setting("labels").where()));
  const std::string problem =
      LabelsProblem(settings.labels, style.labels.size(), loaded.model.outputs()[size_t(style.classified)]);
  if (!problem.empty()) PrintWarning(context, problem);
  return style;
}

bool PrintRemarks(const RunFlags& flags, const Loaded& loaded, const Context& context) {
  if (HasRandomWeights(loaded.model.metadata()))
    PrintWarning(context, fmt::format("[{}] its weights are random, as 'mete zoo' made them: it is for "
                                      "measuring, and its answers mean nothing",
                                      flags.model.model));
  if (flags.pictures.empty()) return false;
  const PictureRemarks remarks = RemarksOf(flags.model.model, loaded.port(), loaded.preprocess);
  if (!remarks.warning.empty()) PrintWarning(context, remarks.warning);
  if (!remarks.note.empty()) PrintNote(context, remarks.note);
  return !remarks.warning.empty() || !remarks.note.empty();
}

void Interpret(const RunFlags& flags, const Loaded& loaded, const AnswerStyle& style,
               const TextReader& read_text, Answer& answer) {
  if (read_text) answer.said = read_text(loaded.model, answer.outputs);
  if (read_text || !loaded.finds()) return;
  if (answer.images.size() != 1)
    throw UsageError(
        fmt::format("[--batch] the outputs of {} pictures cannot be divided; got one answer, "
                    "expected one for each picture; try --batch 1",
                    answer.images.size()));
  answer.found = FindIn(answer.images[0], loaded.model, answer.outputs, loaded.preprocess,
                        loaded.port().shape, style.labels, flags.show);
}

}  // namespace mete::cli
