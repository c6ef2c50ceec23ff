#include "site_run.h"

#include <fmt/format.h>

#include <iostream>

#include "at_site.h"
#include "base/error.h"
#include "base/json.h"
#include "on_command.h"
#include "release_files.h"
#include "terminal.h"

namespace mete::cli {
namespace {

constexpr double kMostGiveUpMs = 1e7;  // guess: three hours

double MsSince(int64_t begin_ns) { return double(MonotonicNs() - begin_ns) * 1e-6; }

void PrintLine(const Json& json) {
  fmt::print("{}\n", JsonText(json, -1));
  std::fflush(stdout);
}

SiteRequest RequestOf(const Json& command) {
  SiteRequest request{PhotoAt(command.at("photo").get<std::string>())};
  request.way = command.value("way", request.way);
  request.give_up_ms = command.value("give_up_ms", request.give_up_ms);
  if (!IsWay(request.way) || !(request.give_up_ms >= 0 && request.give_up_ms <= kMostGiveUpMs))
    throw UsageError(
        fmt::format("[--on-command] no such photo's way; got '{}' and {} ms, expected best, "
                    "device, raw, scaled or cut, and 0 to {} ms",
                    Printable(request.way), request.give_up_ms, kMostGiveUpMs));
  return request;
}

}  // namespace

SiteAnswer RunAtSite(const SiteJob& job) {
  AtSite site(job);
  const SitePhoto photo = PhotoAt(job.picture);
  SiteAnswer answer =
      site.Answer({.photo = photo, .way = job.flags.way, .before_ms = MsSince(job.start.begin_ns)});
  site.KeepWith(0);
  return answer;
}

void ObeyAtSite(const SiteJob& job, const std::function<Json(SiteAnswer, const std::string&)>& results) {
  AtSite site(job);
  const auto answer = [&](SiteRequest request, int64_t begin_ns) {
    request.before_ms = MsSince(begin_ns);
    SiteAnswer answered = site.Answer(request);
    const int64_t answered_ns = answered.answered_ns;
    Json json = results(std::move(answered), request.photo.path);
    json["begin_ns"] = begin_ns;
    const Stopwatch making;
    (void)JsonText(json, -1);  // takes as long as the text that says so
    const double text_ms = MsSince(answered_ns) + making.ms();
    json["text_ms"] = text_ms;
    PrintLine(json);
    site.KeepWith(text_ms);  // after the answer was printed
  };
  answer({.photo = PhotoAt(job.picture), .way = job.flags.way}, job.start.begin_ns);
  for (std::string line; std::getline(std::cin, line);) {
    const int64_t begin_ns = MonotonicNs();
    CheckCancelled(job.context);
    try {
      const Json command = ParseJson(line, "--on-command");
      const std::string what = command.at("do");
      if (what == "photo") {
        answer(RequestOf(command), begin_ns);
      } else if (what == "plan") {
        PrintLine(site.Plans(PhotoAt(command.at("photo").get<std::string>())));
      } else if (what == "settle") {
        site.Settle();
        PrintLine({{"settled", true}});
      } else if (what == "release") {
        ReleaseMappedFiles();
        PrintLine({{"released", true}});
      } else {
        throw UsageError(
            fmt::format("[--on-command] unknown command; got '{}', expected photo, plan, settle or release",
                        Printable(what)));
      }
    } catch (const Json::exception& e) {
      throw UsageError(fmt::format("[--on-command] not a command; got '{}': {}",
                                   Printable(line.substr(0, 200)), e.what()));
    }
  }
}

}  // namespace mete::cli
