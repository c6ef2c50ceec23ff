// The instruction sets for which the fast kernels are compiled. Files include this header before any Highway
// header. Each instruction set costs compile time, so the list only has those that differ in vector width or
// FMA.
#pragma once

// One vector target beside the scalar one: of fuzzers, which look for faults before kernels, and of the demo,
// whose build should be short.
#if defined(METE_FUZZED) || defined(METE_FEW_TARGETS)
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_AVX2 | HWY_NEON))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
