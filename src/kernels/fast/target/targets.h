// Include before any Highway header: which instruction sets the fast kernels are compiled for. Each one
// costs compile time, so only those that differ in vector width or FMA are kept.
#pragma once

#ifdef METE_FUZZED  // one vector form beside the scalar one: the fuzzers look for faults before the kernels
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_AVX2 | HWY_NEON))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
