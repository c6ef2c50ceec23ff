// Replaces site_run.cc if METE_SERVE is off: there is no --site.
#include "site_run.h"

namespace mete::cli {

void AddSiteRunFlags(CLI::App&, SiteRunFlags&) {}
SiteStart BeginAtSite(const SiteRunFlags&, const std::vector<std::string>&) { return {}; }
SiteAnswer RunAtSite(const SiteJob&) { return {}; }
std::optional<Pool> PoolOfSiteFile(const std::string&) { return std::nullopt; }
void ObeyAtSite(const SiteJob&, const std::function<Json(SiteAnswer, const std::string&)>&) {}

}  // namespace mete::cli
