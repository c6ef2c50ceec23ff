"""What must hold for the inner loops: no sum on the stack, and a rate for each core on the tile that it is given."""

# A loop is held to the first rule if at least this share of its instructions multiplies and adds, as in products and convolutions.
# Others, like those that store a row's end through an array, are printed only.
LEAST_SHARE = 1 / 4
PACKING = ("Pack",)  # runs once, when a model is loaded

# What each core is given over panels of four vectors without a tuner (GemmTiles() in gemm.cc, whose choice a test checks), and its bar in
# multiply-adds of a vector a cycle.
F32_TILES = {"cortex-a53": ("RunTile<8, 2, false>", 0.55), "cortex-a55": ("RunTile<8, 2, false>", 1.0),
             "neoverse-n1": ("RunTile<5, 4, true>", 1.9), "neoverse-v1": ("RunTile<5, 4, true>", 3.5)}
# The same of products by other instructions (dot_arm-inl.h, half_dot-inl.h), as shares of the model's peak of the instruction.
SHARES = (("RunByteTile<SignedDot, 5, 4>", "sdot", {"cortex-a55": 0.85, "neoverse-n1": 0.85, "neoverse-v1": 0.85}),
          ("RunByteTile<MixedBlocks, 6, 4>", "usmmla", {"neoverse-v1": 0.85}),
          ("RunByteTile<SignedBlocks, 6, 4>", "smmla", {"neoverse-v1": 0.85}),
          ("RunHalfTile<Bf16Blocks, 6, 4>", "bfmmla", {"neoverse-v1": 0.85}))


def on_stack(found):
    return [f"[{family}: {loop.name}] a loop with {loop.multiply_adds} multiply-adds uses the stack; got {loop.stack} loads or stores in each "
            "iteration, expected none; try a smaller tile, or assembly that names its operands (tile/quads-inl.h)"
            for family, loop, _ in found
            if loop.stack and loop.multiply_adds >= LEAST_SHARE * loop.instructions and not loop.name.startswith(PACKING)]


def below(found, name, bars, rate, unit):
    """A tile has several loops: four elements of K at once, and single ones for the rest. The former have most multiply-adds."""
    loops = [(loop, cycles) for _, loop, cycles in found if loop.name == name and loop.unit == unit]
    if not loops:
        return [f"[{name}] no such loop; expected one of {unit}; try to change bench/arm/rules.py with the tiles"]
    most = max(loop.multiply_adds for loop, _ in loops)
    return [f"[{name}] too slow on {core}; got {got:.3f}, expected {bar} of {unit}; try other instructions in it, or another tile for this core"
            for loop, cycles in loops if loop.multiply_adds == most
            for core, bar in bars.items() if (got := rate(loop, cycles[core], core)) < bar]


def failures(found, model, whole):
    """Returns a line for each rule that does not hold. Rates are checked if all families are there."""
    lines = on_stack(found)
    if whole:
        for core, (tile, bar) in F32_TILES.items():
            lines += below(found, tile, {core: bar}, lambda loop, cycles, core: loop.multiply_adds / cycles, "fmla")
        for tile, unit, bars in SHARES:
            lines += below(found, tile, bars, lambda loop, cycles, core: loop.multiply_adds / cycles / model.peak(loop.unit, core), unit)
    return lines
