// A digest of the sources of the fast kernels and of the code that prepares them, without tests; the build
// computes it (cmake/sources_digest.cmake). Files whose content depends on that code have the digest in their
// names or keys, so that files of other versions of the code are not found.
#pragma once

namespace mete {

extern const char kSourcesDigest[];  // 64 hexadecimal digits

}  // namespace mete
