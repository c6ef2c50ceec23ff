// Replaces plan_site.cc if METE_SERVE is off: there is no --site.
#include "plan_site.h"

namespace mete::cli {

void AddSiteFlags(CLI::App&, SiteFlags&) {}
void PlanTheSite(const Model&, const std::string&, const std::string&, const SiteFlags&, const Context&) {}

}  // namespace mete::cli
