// The parts of `mete run`: its flags, the model with the inputs of the command line, and what is said of
// answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers.h"
#include "chat.h"
#include "context.h"
#include "inputs.h"
#include "mete/engine.h"
#include "mete/image.h"
#include "model_flags.h"
#include "pictures.h"
#include "pool.h"
#include "show.h"
#include "show_text.h"
#include "site_run.h"

namespace mete::cli {

struct RunFlags {
  ModelFlags model;
  PoolFlags pool;
  std::vector<std::string> pictures;
  std::vector<std::string> inputs;
  PictureFlags preprocess;
  ShowFlags show;
  std::string output;
  SiteRunFlags site;
  ChatFlags chat;
};

// A model with the inputs of the command line.
struct Loaded {
  Model model;
  std::vector<Tensor> inputs;  // the input of the pictures has no value
  int picture_port = -1;       // -1: the inputs are only tensors
  Preprocess preprocess;

  const Port& port() const { return model.inputs()[size_t(picture_port)]; }
  bool finds() const { return picture_port >= 0 && !preprocess.head.name.empty(); }  // in pictures
};

// run_load.cc

// Loads the model with its inputs. `batch`: how many pictures it takes at once; 0: as many as --batch says,
// and one without it if the file leaves the batch open.
Loaded LoadWithInputs(const RunFlags& flags, const std::vector<TensorFile>& files, int64_t batch,
                      double* load_ms, const Context& context);
// UsageError if the last batch has fewer pictures than the port takes and the model does not permit that.
void CheckBatches(const RunFlags& flags, const Port& port);
// UsageError if an input has neither pictures nor a tensor.
void CheckInputsAreThere(const RunFlags& flags, const Loaded& loaded);

// run_style.cc

// Returns the settings that do not depend on an input, such as the tokenizer: those of flags, or of the TOML.
Preprocess TextSettings(const RunFlags& flags);
// Returns what reads text from outputs with --show tokens, else nothing.
TextReader ReaderFor(const RunFlags& flags);
// Returns how answers are printed. UsageError if --show asks for what the network's head does not find.
AnswerStyle StyleFor(const RunFlags& flags, const Loaded& loaded, const Context& context);
// Prints remarks on what may be wrong with the answers, before the first answer. Returns true if a remark
// says how pictures get the input's size.
bool PrintRemarks(const RunFlags& flags, const Loaded& loaded, const Context& context);
// Adds what the outputs say: the text that they are, or what the network has found in the answer's picture.
void Interpret(const RunFlags& flags, const Loaded& loaded, const AnswerStyle& style,
               const TextReader& read_text, Answer& answer);

// run_at_site.cc

// The files whose pages decide how long a start takes.
std::vector<std::string> ModelFiles(const ModelFlags& flags);
// The objective of a plan with --site.
std::string ObjectiveAtSite(const RunFlags& flags);
// --site: the answer of this device or of a server, in the same form. What is found is decoded and drawn
// here, whichever of them has computed it.
void RunPhotoAtSite(const RunFlags& flags, const Loaded& loaded, const AnswerStyle& style,
                    const TextReader& read_text, double load_ms, const SiteStart& start,
                    const Context& context);

}  // namespace mete::cli
