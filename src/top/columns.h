// The tables of a page: which columns they have in a width, and their rows as texts.
#pragma once

#include <vector>

#include "top/page.h"

namespace mete::top {

// The lines of a table, its header first; none without rows.
std::vector<PageLine> ModelLines(const View& view, const PageOptions& options);
std::vector<PageLine> ProcessorLines(const View& view, const PageOptions& options);

}  // namespace mete::top
