#include <fmt/format.h>

#include "objective.h"
#include "output_folder.h"
#include "run_parts.h"
#include "terminal.h"

namespace mete::cli {

std::vector<std::string> ModelFiles(const ModelFlags& flags) {
  std::vector<std::string> files{flags.model};
  if (!flags.weights.empty()) files.push_back(flags.weights);
  return files;
}

std::string ObjectiveAtSite(const RunFlags& flags) {
  return flags.model.objective.empty() ? "latency" : flags.model.objective;
}

namespace {

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

}  // namespace

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

}  // namespace mete::cli
