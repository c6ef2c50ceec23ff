// The instruction sets for which the fast kernels are compiled. Files include this header before any Highway
// header. Each instruction set costs compile time, so the list only has those that differ in vector width or
// FMA.
#pragma once

#ifdef METE_FUZZED  // one vector target beside the scalar one, since fuzzers look for faults before kernels
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_AVX2 | HWY_NEON))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
