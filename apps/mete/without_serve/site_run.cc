// Replaces site_run.cc if METE_SERVE is off: there is no --site.
#include "site_run.h"

namespace mete::cli {

void AddSiteRunFlags(CLI::App&, SiteRunFlags&) {}
SiteAnswer RunAtSite(const SiteJob&) { return {}; }

}  // namespace mete::cli
