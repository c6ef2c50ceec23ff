# cmake -D SOURCE=<root> -D OUT=<file> -P packing_digest.cmake
# A digest of the sources that decide how weights are packed, as C++: files of packed weights that other code has written must not be found.
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/src/kernels/fast/*.h ${SOURCE}/src/kernels/fast/*.cc ${SOURCE}/src/processor/cpu/*.h
     ${SOURCE}/src/processor/cpu/*.cc)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
list(SORT sources)
set(all "")
foreach(source ${sources})
  file(SHA256 ${SOURCE}/${source} digest)
  string(APPEND all "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUT} "namespace mete { extern const char kPackingDigest[]; const char kPackingDigest[] = \"${digest}\"; }\n")
