// mete run: runs a model on pictures or tensors.
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "base/difference.h"
#include "base/open_problem.h"
#include "checks.h"
#include "commands.h"
#include "left_frequencies.h"
#include "objective.h"
#include "output_folder.h"
#include "run_parts.h"
#include "stopwatch.h"
#include "terminal.h"
#include "trace_counters.h"

namespace mete::cli {
namespace {

using RunFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&, const RunOptions&)>;

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

// Checks the paths before any work that takes time.
void CheckPicturesAreThere(const RunFlags& flags) {
  for (const std::string& path : flags.pictures)
    if (std::error_code ignored; !std::filesystem::exists(path, ignored)) FailToOpen(path, ENOENT);
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
  const Loaded loaded = LoadWithInputs(flags, files, 0, &load_ms, context);
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
  std::optional<TraceCounters> counters;
  if (!flags.model.trace.empty()) counters.emplace(context);
  const auto run_by = [&](Session& by, const std::vector<Tensor>& in, const RunOptions& options) {
    return counters ? counters->Run(by, in, options) : by.Run(in, options);
  };
  const RunFunction run = [&](const std::vector<Tensor>& in, const RunOptions& options) {
    return last = run_by(session, in, options);
  };
  const auto smaller = [&](int64_t pictures) {
    Loaded fewer = LoadWithInputs(flags, files, pictures, nullptr, context);
    last_batch =
        MakeSession(fewer.model, SessionOptionsOf(chosen), "preparing the last batch, node", context);
    return std::pair(std::move(fewer),
                     RunFunction([&](const std::vector<Tensor>& in, const RunOptions& options) {
                       return run_by(last_batch, in, options);
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
