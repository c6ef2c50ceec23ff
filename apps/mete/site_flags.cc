// The flags of `mete run --site`.
#include "checks.h"
#include "objective.h"
#include "site_run.h"

namespace mete::cli {

namespace {

// --explain is of the ways of a site, which a pool has as well.
void AllowExplain(CLI::App& command) {
  CLI::Option *processors = command.get_option("--processors"), *explain = command.get_option("--explain");
  processors->remove_excludes(explain);
  explain->remove_excludes(processors);
}

}  // namespace

void AddSiteRunFlags(CLI::App& command, SiteRunFlags& flags) {
  CLI::Option* site = command
                          .add_option("--site", flags.site,
                                      "answer a photo on this device or on a server that the file names, "
                                      "whichever is sooner, or as --objective says; --explain says why")
                          ->type_name("FILE.toml")
                          ->group("Site");
  ExcludeOthers(command, *site,
                {"--input", "--trace", "--profile", "--plan", "--save-plan", "--precision", "--reference"});
  AllowExplain(command);
  command
      .add_option(
          "--way", flags.way,
          "instead of the planned way: device, raw (the photo as it is goes to the server), scaled (the "
          "device scales it first), or cut (the device computes the first layers, the server's worker the "
          "others)")
      ->type_name("NAME")
      ->check(OneOf({"best", "device", "raw", "scaled", "cut"}))
      ->capture_default_str()
      ->needs(site)
      ->group("Site");
  AddDeadlineFlag(command, site, flags.deadline_ms);
  command
      .add_flag("--on-command", flags.on_command,
                "answer the photo, then others as lines of JSON on stdin ask for them, for programs that "
                "measure (needs --json)")
      ->needs(site)
      ->group("Site");
}

}  // namespace mete::cli
