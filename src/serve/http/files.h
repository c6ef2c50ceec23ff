// The files that the server has within itself: its page, and the description of its interface.
#pragma once

#include "serve/http/message.h"

namespace mete::serve {

HttpAnswer PageFile();     // text/html
HttpAnswer OpenApiFile();  // application/json

}  // namespace mete::serve
