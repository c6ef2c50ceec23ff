# cmake -D SOURCE=<root> -D OUT=<file> -D BUILD=<compiler and flags> -P sources_digest.cmake
# A digest of the sources that decide how weights are packed and how long a kernel takes, and of how they are compiled, as C++
# (src/processor/cpu/prepare/sources_digest.h).
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/src/kernels/fast/*.h ${SOURCE}/src/kernels/fast/*.cc ${SOURCE}/src/processor/cpu/*.h
     ${SOURCE}/src/processor/cpu/*.cc ${SOURCE}/src/processor/tuning/*.h ${SOURCE}/src/processor/tuning/*.cc ${SOURCE}/src/dispatch/*.h ${SOURCE}/src/dispatch/*.cc ${SOURCE}/src/schedule/*.h ${SOURCE}/src/schedule/*.cc ${SOURCE}/src/base/few_bit_matrix.*)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
list(SORT sources)
set(all "${BUILD}\n")
foreach(source ${sources})
  file(SHA256 ${SOURCE}/${source} digest)
  string(APPEND all "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUT} "namespace mete { extern const char kSourcesDigest[]; const char kSourcesDigest[] = \"${digest}\"; }\n")
