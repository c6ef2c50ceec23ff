// mete run: runs a model on pictures or tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "answers.h"
#include "base/difference.h"
#include "base/open_problem.h"
#include "chat.h"
#include "checks.h"
#include "commands.h"
#include "pool.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "model_flags.h"
#include "objective.h"
#include "output_folder.h"
#include "pictures.h"
#include "show.h"
#include "show_text.h"
#include "site_run.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text_file.h"
#include "zoo/zoo.h"

namespace mete::cli {
namespace {

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

using RunFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&, const RunOptions&)>;

// A model with the inputs of the command line.
struct Loaded {
  Model model;
  std::vector<Tensor> inputs;  // the input of the pictures has no value
  int picture_port = -1;       // -1: the inputs are only tensors
  Preprocess preprocess;

  const Port& port() const { return model.inputs()[size_t(picture_port)]; }
  bool finds() const { return picture_port >= 0 && !preprocess.head.name.empty(); }  // in pictures
};

// The data that all answers share.
struct Job {
  const RunFlags& flags;
  const Context& context;
  const Loaded& loaded;
  const AnswerStyle& style;
  RunFunction run;
  // Loads the model for a last batch of fewer pictures, and returns it with the function that runs it.
  std::function<std::pair<Loaded, RunFunction>(int64_t pictures)> smaller;
  Trace trace;                 // of the last run
  std::vector<Tensor> inputs;  // the inputs of the last call of `run`
  bool told = false;           // whether the user was told how pictures get the input's size
  TextReader read_text = {};   // none: outputs are shown in other ways
};

Answer RunOnce(Job& job, const RunFunction& run, const std::vector<Tensor>& inputs) {
  RunOptions options{job.context.cancel, job.flags.model.traced() ? &job.trace : nullptr};
  const Stopwatch watch;
  Answer answer{{}, {}, run(inputs, options), 0, 1};
  answer.ms = watch.ms();
  return answer;
}

void AddOutputs(const Job& job, const Answer& answer, OutputFolder& folder) {
  const bool several = job.flags.pictures.size() > 1 && !answer.pictures.empty();
  const std::string prefix = several ? std::filesystem::path(answer.pictures[0]).stem().string() + "." : "";
  for (size_t i = 0; i < answer.outputs.size(); ++i)
    folder.Add(prefix + job.loaded.model.outputs()[i].name, answer.outputs[i].view());
}

// Adds what the outputs say: the text that they are, or what the network has found in the answer's picture.
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

// Prints the answers, or adds them to `results` as JSON.
void Report(const Job& job, Answer batch, OutputFolder& folder, Json& results) {
  const bool tensors = batch.pictures.empty();
  if (tensors) AddOutputs(job, batch, folder);
  for (Answer& answer : AnswersOf(std::move(batch), job.style)) {
    if (!tensors) AddOutputs(job, answer, folder);
    Interpret(job.flags, job.loaded, job.style, job.read_text, answer);
    if (job.context.json) results.push_back(AnswerJson(job.loaded.model, answer, job.style));
    else PrintAnswer(job.loaded.model, answer, job.style);
  }
}

// Returns the settings that do not depend on an input, such as the tokenizer: those of flags, or of the TOML.
Preprocess TextSettings(const RunFlags& flags) {
  return PreprocessOf(flags.model.model, Port{}, flags.preprocess);
}

TextReader ReaderFor(const RunFlags& flags) {
  if (!flags.show.tokens()) return {};
  const Preprocess settings = TextSettings(flags);
  return ReaderOfText(settings.tokenizer, settings.top_k);
}

// UsageError if text is asked for without a tokenizer, or the other way round.
void CheckText(const RunFlags& flags) {
  const bool text = flags.chat.given() || flags.show.tokens();
  if (text && TextSettings(flags).tokenizer.empty())
    throw UsageError(
        "[--tokenizer] the model's file does not say how its tokens are text; got none, expected a file; try "
        "--tokenizer tokenizer.json");
  if (!text && flags.preprocess.given("tokenizer"))
    throw UsageError(
        "[--tokenizer] there is no text; got a tokenizer alone, expected --chat, --prompt or --show tokens; "
        "try --prompt 'Once'");
}

// Returns the port that takes the pictures: the only one for which --input gives no tensor.
int PicturePort(const Model& model, const std::vector<Tensor>& inputs) {
  const int port = FirstMissing(inputs);
  if (port < 0)
    throw UsageError("[--input] gives every input already; got pictures, too; try without pictures");
  for (size_t i = size_t(port) + 1; i < inputs.size(); ++i)
    if (!inputs[i].has_value())
      throw UsageError(
          fmt::format("[--input] a picture cannot fill every input; got none for '{0}', expected a tensor; "
                      "try --input {0}=FILE",
                      model.inputs()[i].name));
  return port;
}

void RunBatch(Job& job, const Loaded& loaded, const RunFunction& run, std::span<const std::string> pictures,
              OutputFolder& folder, Json& results) {
  std::vector<Tensor> inputs = loaded.inputs;
  PictureBatch batch;
  Answer answer = [&] {
    const Progress progress(job.context, pictures[0]);
    batch = ReadPictures(pictures, loaded.preprocess, loaded.port());
    inputs[size_t(loaded.picture_port)] = batch.tensor;
    if (!loaded.finds()) batch.images.clear();  // which take memory
    return RunOnce(job, run, inputs);
  }();
  if (!batch.stretched.empty() && !job.told) PrintNote(job.context, batch.stretched);
  job.told |= !batch.stretched.empty();
  if (&loaded == &job.loaded) job.inputs = std::move(inputs);
  answer.pictures.assign(pictures.begin(), pictures.end());
  answer.turned = std::move(batch.turned);
  answer.images = std::move(batch.images);
  answer.batch = int64_t(pictures.size());
  Report(job, std::move(answer), folder, results);
}

Json RunPictures(Job& job, OutputFolder& folder) {
  const std::span<const std::string> all(job.flags.pictures);
  const size_t batch = size_t(job.loaded.port().shape[0]);
  Json results = Json::array();
  for (size_t i = 0; i < all.size(); i += batch) {
    CheckCancelled(job.context);
    if (all.size() - i >= batch) {
      RunBatch(job, job.loaded, job.run, all.subspan(i, batch), folder, results);
    } else {
      const auto [loaded, run] = job.smaller(int64_t(all.size() - i));
      RunBatch(job, loaded, run, all.subspan(i), folder, results);
    }
  }
  return results;
}

Json RunTensors(Job& job, OutputFolder& folder) {
  Answer answer = [&] {
    const Progress progress(job.context, "running");
    return RunOnce(job, job.run, job.loaded.inputs);
  }();
  job.inputs = job.loaded.inputs;
  Json results = Json::array();
  Report(job, std::move(answer), folder, results);
  return results;
}

// What --processors adds to the answer: the processors' part, and how far what they give is from this
// device's own.
Json ReportPool(Session& session, const Job& job, const std::vector<Tensor>& outputs) {
  const double apart = LargestDifference(outputs, RunAtHome(session, job.inputs));
  const PoolStats stats = session.pool_stats();
  if (!job.context.json)
    PrintText(
        fmt::format("processors: {}; predicted {}; floats travel as {}: at most {:.2g} of the largest value "
                    "apart from this device's own answer",
                    stats.plan, FormatMs(stats.predicted_us * 1e-3), job.flags.pool.transfer, apart));
  return {{"plan", stats.plan},
          {"predicted_ms", stats.predicted_us * 1e-3},
          {"transfer", job.flags.pool.transfer},
          {"largest_difference", apart}};
}

// What --precision adds to the answer: how far it is from that of f32, for the inputs of the last run.
Json ReportPrecision(const Job& job, const std::vector<Tensor>& outputs) {
  ModelFlags f32 = job.flags.model;
  f32.precision = ModelFlags().precision;
  std::map<std::string, Shape> shapes;
  for (size_t i = 0; i < job.inputs.size(); ++i)
    shapes[job.loaded.model.inputs()[i].name] = job.inputs[i].shape();
  const Model model = LoadQuietly(f32, job.context, nullptr, shapes);
  Session session(model, SessionOptions::Estimated());
  const double apart = LargestDifference(outputs, session.Run(job.inputs));
  if (!job.context.json)
    PrintText(fmt::format(
        "precision {}: at most {:.2g} of the largest value apart from the answer of --precision f32",
        job.flags.model.precision, apart));
  Json json{{"name", job.flags.model.precision}, {"largest_difference", apart}};
  const PrecisionReport& chosen = job.loaded.model.precision();
  if (chosen.bound == 0) return json;
  if (apart > chosen.bound)
    PrintWarning(
        job.context,
        fmt::format(
            "[--error-bound] this answer is further from that of f32 than those of the inputs by which the "
            "precisions were chosen; got {:.2g}, expected at most {:g}; try --precision f32",
            apart, chosen.bound));
  json["bound"] = chosen.bound;
  json["measured"] = chosen.error;
  json["samples"] = chosen.samples;
  json["made_up"] = chosen.made_up;
  json["rounded"] = chosen.rounded;
  json["kept"] = chosen.kept;
  return json;
}

// Returns the inputs of the first run, by which --precision auto measures; none: they are not there.
std::vector<std::vector<Tensor>> FirstInputs(const RunFlags& flags, const Loaded& loaded) {
  std::vector<Tensor> inputs = loaded.inputs;
  if (loaded.picture_port >= 0) {
    const int64_t batch = loaded.port().shape[0];
    if (batch < 1 || batch > int64_t(flags.pictures.size())) return {};
    const std::span<const std::string> first = std::span(flags.pictures).first(size_t(batch));
    inputs[size_t(loaded.picture_port)] = ReadPictures(first, loaded.preprocess, loaded.port()).tensor;
  }
  if (FirstMissing(inputs) >= 0) return {};
  return {inputs};
}

// Loads the model with its inputs. Unless --batch says more, a batch has one picture if the file leaves the
// batch open.
Loaded Load(const RunFlags& flags, const std::vector<TensorFile>& files, int64_t batch, double* load_ms,
            const Context& context) {
  ModelFlags load = flags.model;
  const int64_t pictures = int64_t(flags.pictures.size());
  if (pictures > 0) load.batch = batch > 0 ? batch : std::clamp<int64_t>(load.batch, 1, pictures);
  std::map<std::string, Shape> tensors = ShapesOf(files);
  const bool chooses = load.precision == "auto";
  if (chooses) load.precision = ModelFlags().precision;  // until the inputs are known
  const auto load_model = [&] { return LoadQuietly(load, context, load_ms, tensors); };
  Loaded loaded{load_model(), {}, -1, {}};
  loaded.inputs = PlaceTensors(loaded.model, files);
  const auto finish = [&] {
    if (chooses) {
      load.precision = flags.model.precision;
      load.samples = FirstInputs(flags, loaded);
      loaded.model = load_model();
    }
    PrintNotes(loaded.model, context);
    return loaded;
  };
  if (flags.pictures.empty()) return finish();
  loaded.picture_port = PicturePort(loaded.model, loaded.inputs);
  loaded.preprocess = PreprocessOf(flags.model.model, loaded.port(), flags.preprocess);
  if (const Shape wanted = WantedShape(loaded.port(), loaded.preprocess); wanted != loaded.port().shape) {
    tensors[loaded.port().name] = wanted;
    loaded.model = load_model();
    loaded.inputs = PlaceTensors(loaded.model, files);
  }
  CheckPictures(loaded.port(), loaded.preprocess, flags.preprocess, flags.model.model);
  return finish();
}

// UsageError if the last batch has fewer pictures than the port takes and the model does not permit that.
void CheckBatches(const RunFlags& flags, const Port& port) {
  const int64_t batch = port.shape[0], pictures = int64_t(flags.pictures.size());
  if (batch < 1)
    throw UsageError(fmt::format("[--shape] input {} takes no pictures at all; try a first dimension of 1",
                                 DescribePort(port)));
  if (flags.model.batch > 0 && std::min(flags.model.batch, pictures) != batch)
    throw UsageError(
        fmt::format("[--batch] input {} has another batch; got {}, expected {}; try without --batch",
                    DescribePort(port), flags.model.batch, batch));
  if (pictures % batch == 0) return;
  const bool is_open = port.declared.rank() > 0 && port.declared[0] < 0;
  if (!is_open)
    throw UsageError(
        fmt::format("[IMAGE] input {} takes {} pictures at once; got {}, expected a multiple of {}",
                    DescribePort(port), batch, pictures, batch));
  if (flags.pool.given())
    throw UsageError(fmt::format(
        "[--batch] with --processors each batch is whole; got {} pictures, expected a multiple of {}",
        pictures, batch));
  for (const std::string& shape : flags.model.shapes)
    if (shape.find('x') != std::string::npos)
      throw UsageError(
          fmt::format("[--shape] input {} takes {} pictures at once; got {}, expected a multiple of {}; try "
                      "--batch instead of "
                      "--shape",
                      DescribePort(port), batch, pictures, batch));
}

void CheckInputsAreThere(const RunFlags& flags, const Loaded& loaded) {
  const int open = FirstMissing(loaded.inputs);
  if (!flags.pictures.empty() || open < 0) return;
  const Port& port = loaded.model.inputs()[size_t(open)];
  throw UsageError(fmt::format("[run] nothing to run on: input {} is missing; try {}--input {}=FILE.npy",
                               DescribePort(port), PictureShapeOf(port.shape).known ? "a picture, or " : "",
                               port.name));
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

// Prints remarks on what may be wrong with the answers, before the first answer. Returns true if a remark
// says how pictures get the input's size.
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

// Checks the paths before any work that takes time.
void CheckPicturesAreThere(const RunFlags& flags) {
  for (const std::string& path : flags.pictures)
    if (std::error_code ignored; !std::filesystem::exists(path, ignored)) FailToOpen(path, ENOENT);
}

std::vector<std::string> ModelFiles(const ModelFlags& flags) {
  std::vector<std::string> files{flags.model};
  if (!flags.weights.empty()) files.push_back(flags.weights);
  return files;
}

std::string ObjectiveAtSite(const RunFlags& flags) {
  return flags.model.objective.empty() ? "latency" : flags.model.objective;
}

// Returns the only input's port. UsageError for what a site does not compute.
const Port& CheckForSite(const RunFlags& flags, const Loaded& loaded) {
  if (flags.pictures.size() != 1)
    throw UsageError(fmt::format("[--site] the request is one photo; got {}", flags.pictures.size()));
  if (flags.site.on_command && (!flags.output.empty() || flags.show.given()))
    throw UsageError(fmt::format("[--on-command] answers in lines of JSON alone; got {}; try without it",
                                 flags.output.empty() ? "--show" : "--output"));
  if (loaded.model.inputs().size() != 1 || loaded.port().shape[0] != 1)
    throw UsageError(fmt::format("[--site] the model takes one picture; got {} inputs, the first {}",
                                 loaded.model.inputs().size(), DescribePort(loaded.model.inputs()[0])));
  return loaded.port();
}

// The pool is planned for the least time of a request, whatever the site is: its requests come one at a time,
// and the site's file has the power of the whole device alone.
ModelFlags OnPoolAtSite(const RunFlags& flags) {
  ModelFlags on_pool = flags.model;
  on_pool.objective.clear();
  return on_pool;
}

std::optional<SitePool> PoolAtSite(const RunFlags& flags, const Model& model, const Context& context) {
  if (!flags.pool.given()) return std::nullopt;
  return SitePool{PoolOf(flags.pool), TimedWords(flags.pool), FilesOf(flags.pool),
                  [&] { return MeasureOnce(model, OnPoolAtSite(flags), flags.pool, context); },
                  [&] { return CostFilesOf(model, OnPoolAtSite(flags), flags.pool, context); }};
}

Session SessionAtSite(const RunFlags& flags, const Model& model, const Context& context) {
  return flags.pool.given() ? MakePoolSession(model, OnPoolAtSite(flags), flags.pool, context)
                            : MakeSession(model, flags.model, context);
}

// --site: the answer of this device or of a server, in the same form. What is found is decoded and drawn
// here, whichever of them has computed it.
void RunPhotoAtSite(const RunFlags& flags, const Loaded& loaded, const AnswerStyle& style,
                    const TextReader& read_text, double load_ms, const SiteStart& start,
                    const Context& context) {
  const Port& port = CheckForSite(flags, loaded);
  const SiteJob job{flags.site,
                    ObjectiveAtSite(flags),
                    context,
                    loaded.model,
                    ModelFiles(flags.model),
                    flags.model.threads,
                    loaded.preprocess,
                    port,
                    flags.pictures[0],
                    SessionOptionsOf(flags.model),
                    [&] { return SessionAtSite(flags, loaded.model, context); },
                    PoolAtSite(flags, loaded.model, context),
                    start};
  const auto answer_of = [&](SiteAnswer& at, const std::string& picture) {
    Answer answer{{picture}, {at.turned}, std::move(at.outputs), at.ms, 1};
    if (loaded.finds()) answer.images = {LoadImage(picture)};
    Interpret(flags, loaded, style, read_text, answer);
    return answer;
  };
  if (flags.site.on_command)
    return ObeyAtSite(job, [&](SiteAnswer at, const std::string& picture) {
      const Answer answer = answer_of(at, picture);
      return Json{{"results", Json::array({AnswerJson(loaded.model, answer, style)})}, {"site", at.json}};
    });
  SiteAnswer at = RunAtSite(job);
  const Answer answer = answer_of(at, flags.pictures[0]);
  OutputFolder folder(flags.output);
  for (size_t i = 0; i < answer.outputs.size(); ++i)
    folder.Add(loaded.model.outputs()[i].name, answer.outputs[i].view());
  const auto files_written = folder.Commit();
  if (!context.json) {
    PrintAnswer(loaded.model, answer, style);
    fmt::print("{}", flags.model.explain ? at.text : at.text.substr(0, at.text.find('\n') + 1));
    return;
  }
  Json json{{"model", flags.model.model},
            {"load_ms", load_ms},
            {"results", Json::array({AnswerJson(loaded.model, answer, style)})}};
  if (!files_written.empty()) json["files"] = files_written;
  json["notes"] = loaded.model.notes();
  json["site"] = std::move(at.json);
  PrintJson(json);
}

// A pool's session has no table of nodes; a site's ways have a text of their own.
void CheckExplains(const RunFlags& flags) {
  if (flags.pool.given() && flags.model.explain && !flags.site.given())
    throw UsageError(
        "[--processors] excludes --explain; got both, expected one of them; try 'mete run --help'");
}

// UsageError for flags that say how text is continued where no text is.
void CheckNoChat(const ChatFlags& flags) {
  for (const CLI::Option* choice : flags.choices)
    if (choice->count() > 0)
      throw UsageError(fmt::format(
          "[{}] there is no text to continue; got neither --chat nor --prompt, expected one of them; try "
          "--prompt 'Once'",
          choice->get_name()));
}

// UsageError if text is asked for beside pictures or tensors.
void CheckChat(const RunFlags& flags) {
  if (!flags.pictures.empty() || !flags.inputs.empty())
    throw UsageError(
        "[--chat] a conversation has no other inputs; got pictures or tensors, expected text alone; "
        "try without them");
}

void Run(const RunFlags& flags, const Context& context) {
  CheckText(flags);
  if (flags.chat.given()) {
    CheckChat(flags);
    return Chat(flags.chat, TextSettings(flags).tokenizer, flags.model, context);
  }
  CheckNoChat(flags.chat);
  CheckExplains(flags);
  const SiteStart start = BeginAtSite(flags.site, ModelFiles(flags.model));
  CheckPicturesAreThere(flags);
  CheckShow(flags.show, flags.pictures);
  const TextReader read_text = ReaderFor(flags);
  if (flags.site.given()) CheckSiteObjective(ObjectiveAtSite(flags), flags.site.deadline_ms);
  else CheckObjective(flags.model, flags.pool.given());
  CheckCores(flags.model);
  PutBackLeftFrequencies(context);
  double load_ms = 0;
  const std::vector<TensorFile> files = ReadTensorFiles(flags.inputs);
  const Loaded loaded = Load(flags, files, 0, &load_ms, context);
  CheckInputsAreThere(flags, loaded);
  if (!flags.pictures.empty()) CheckBatches(flags, loaded.port());
  const AnswerStyle style = StyleFor(flags, loaded, context);
  const bool told = PrintRemarks(flags, loaded, context);
  if (flags.site.given()) return RunPhotoAtSite(flags, loaded, style, read_text, load_ms, start, context);
  ModelFlags chosen = flags.model;
  // as long as the session
  const auto frequencies = flags.pool.given() ? nullptr : ApplyObjective(loaded.model, chosen, context);
  Session session = flags.pool.given() ? MakePoolSession(loaded.model, chosen, flags.pool, context)
                                       : MakeSession(loaded.model, chosen, context);
  Session last_batch;
  const double prepare_ms = session.stats().prepare_ms;
  OutputFolder folder(flags.output);
  std::vector<Tensor> last;
  const RunFunction run = [&](const std::vector<Tensor>& in, const RunOptions& options) {
    return last = session.Run(in, options);
  };
  const auto smaller = [&](int64_t pictures) {
    Loaded fewer = Load(flags, files, pictures, nullptr, context);
    last_batch =
        MakeSession(fewer.model, SessionOptionsOf(chosen), "preparing the last batch, node", context);
    return std::pair(std::move(fewer),
                     RunFunction([&](const std::vector<Tensor>& in, const RunOptions& options) {
                       return last_batch.Run(in, options);
                     }));
  };
  Job job{flags, context, loaded, style, run, smaller, {}, {}, told, read_text};
  Json results = flags.pictures.empty() ? RunTensors(job, folder) : RunPictures(job, folder);
  const auto files_written = folder.Commit();
  Json json{{"model", flags.model.model},
            {"load_ms", load_ms},
            {"prepare_ms", prepare_ms},
            {"results", std::move(results)}};
  if (!files_written.empty()) json["files"] = files_written;
  json["notes"] = loaded.model.notes();
  if (flags.pool.given()) json["processors"] = ReportPool(session, job, last);
  if (flags.model.precision != ModelFlags().precision) json["precision"] = ReportPrecision(job, last);
  if (!context.json) fmt::print("loaded in {}, prepared in {}\n", FormatMs(load_ms), FormatMs(prepare_ms));
  ReportPlan(
      session, flags.model, context,
      [&](Trace* trace) {
        session.Run(job.inputs, {context.cancel, trace});
      },
      json);
  ReportTrace(job.trace, flags.model, context, json);
  if (context.json) PrintJson(json);
}

}  // namespace

void AddRun(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "run a model on pictures or tensors");
  auto flags = std::make_shared<RunFlags>();
  AddModelFlags(*command, flags->model);
  AddObjectiveFlag(*command, flags->model);
  command->add_option("IMAGE", flags->pictures, "pictures: JPEG, PNG, BMP, PPM");
  AddPictureFlags(*command, flags->preprocess);
  AddShowFlags(*command, flags->show);
  command
      ->add_option("--batch", flags->model.batch,
                   "pictures at once, where the model leaves that open (default: 1, or as many as it takes)")
      ->type_name("N")
      ->check(Between(1, kMostBatch))
      ->group("Pictures");
  command
      ->add_option(
          "--input", flags->inputs,
          "a tensor from a .npy, .pb (ONNX TensorProto) or .bin (raw) file; may be repeated. Dimensions "
          "that the model leaves open follow from it")
      ->type_name("NAME=FILE")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Tensors");
  command->add_option("--output", flags->output, "write every output to DIR as .npy, all or none")
      ->type_name("DIR")
      ->group("Tensors");
  AddPoolFlags(*command, flags->pool);
  AddChatFlags(*command, flags->chat);
  AddSiteRunFlags(*command, flags->site);
  for (const char* text : {"--chat", "--prompt"})
    ExcludeOthers(*command, *command->get_option(text),
                  {"--site", "--processors", "--show", "--output", "--profile", "--trace", "--explain"});
  AddJsonFlag(*command, context);
  command->footer(
      "Pictures need the preprocessing that the model was trained with: a TOML beside it (net.onnx, "
      "net.toml), a recipe, or flags. 'mete help "
      "preprocess' has all of it.\n"
      "\n"
      "Examples:\n"
      "  mete run models/digits.onnx models/digit.png\n"
      "  mete run mobilenet_v2.onnx cat.jpg --preprocess mobilenet --labels imagenet.txt\n"
      "  mete run deploy.prototxt cat.jpg --weights net.caffemodel --preprocess caffe-bgr --softmax\n"
      "  mete run detector.onnx street.jpg --preprocess unit --head fastestdet --show boxes\n"
      "  mete run resnet18.onnx cat.jpg --site site.toml --explain\n"
      "  mete run decoder.onnx --prompt Once --tokenizer tokenizer.bin --most-tokens 100\n"
      "  mete run bert.onnx --input ids=ids.npy --input mask=mask.npy --show tokens --tokenizer "
      "tokenizer.json\n"
      "  mete run encoder.onnx --input ids=ids.npy --input mask=mask.npy --output results --profile");
  command->callback([flags, &context] { context.command = [flags, &context] { Run(*flags, context); }; });
}

}  // namespace mete::cli
