// A digest of the sources of the fast kernels and of what prepares them, tests apart: the build makes it
// (cmake/sources_digest.cmake). What is kept in files and depends on that code has it in its name, so that
// what other code has written is not found.
#pragma once

namespace mete {

extern const char kSourcesDigest[];  // 64 hexadecimal digits

}  // namespace mete
