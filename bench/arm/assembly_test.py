"""Which loops are found in assembly, and which break a rule. The model is not asked."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import assembly
import rules

# An outer loop around an inner one; a branch back that is no loop, because the code behind .L5 joins at .L4 (as the ends of rows do).
NESTED = """
_Z6KernelPf:
.LFB1:
	.cfi_startproc
	mov	x1, 0
.L2:
	ldr	q1, [sp, 16]
	mov	x2, 0
.L3:
#APP
	ldr q0, [x0], 16
#NO_APP
	fmla	v2.4s, v0.4s, v1.s[0]	// a comment
	fmla	v3.4s, v0.4s, v1.s[1]
	add	x2, x2, 1
	cmp	x2, 8
	bne	.L3
	add	x1, x1, 1
	cmp	x1, 8
	bne	.L2
	cbz	x3, .L5
.L4:
	str	q2, [x0]
	ret
.L5:
	str	q2, [sp, 32]
	ldr	q2, [sp, 48]
	b	.L4
"""

# A sum on the stack in each iteration, and an array there in a part that most iterations skip.
SPILLED = """
_Z6KernelPf:
0:
	ldr q4, [sp, 192]
	fmla v4.4s, v0.4s, v1.s[0]
	str q4, [sp, 192]
	cbz	x1, 1f
.L9:
	subs	x2, x2, 1
	b.ne	0b
	ret
.L8:
	ldr	x9, [sp, 8]
	b	.L9
"""


class Loops(unittest.TestCase):
    def test_the_innermost_loop_alone_is_found(self):
        (loop,) = assembly.innermost_loops(NESTED)
        self.assertEqual((loop.name, loop.unit, loop.multiply_adds, loop.instructions, loop.stack), ("Kernel", "fmla", 2, 6, 0))

    def test_a_sum_on_the_stack_is_counted_and_fails(self):
        (loop,) = assembly.innermost_loops(SPILLED)
        self.assertEqual(loop.stack, 2)
        loop.lines = loop.each = [line for line in loop.lines if "sp, 192" in line or "fmla" in line]
        (line,) = rules.on_stack([("family", loop, {})])
        self.assertIn("[family: Kernel]", line)
        self.assertIn("got 2", line)

    def test_what_a_branch_skips_is_not_counted(self):
        text = SPILLED.replace("cbz	x1, 1f", "cbz	x1, .L8").replace(", [sp, 192]", ", [x5]")
        (loop,) = assembly.innermost_loops(text)
        self.assertIn("ldr	x9, [sp, 8]", loop.text)
        self.assertEqual(loop.stack, 0)

    def test_names_are_without_namespaces_and_parameters(self):
        name = "void mete::N_NEON::(anonymous namespace)::RunTile<8, 2, false>(mete::Strip const&, unsigned long, float const*)"
        self.assertEqual(assembly.Loop(name, [], []).name, "RunTile<8, 2, false>")


class Bars(unittest.TestCase):
    def test_a_tile_below_its_bar_and_one_that_is_missing_fail(self):
        (loop,) = assembly.innermost_loops(NESTED)
        loop.function = "RunTile<5, 4, true>"
        found = [("gemm", loop, {"fast": 1.0, "slow": 4.0})]

        def per_cycle(loop, cycles, core):
            return loop.multiply_adds / cycles

        lines = rules.below(found, "RunTile<5, 4, true>", {"fast": 1.9, "slow": 0.6}, per_cycle, "fmla")
        self.assertEqual(len(lines), 1)
        self.assertIn("slow on slow; got 0.500, expected 0.6", lines[0])
        self.assertIn("no such loop", rules.below([], "RunTile<5, 4, true>", {"fast": 1}, per_cycle, "fmla")[0])


if __name__ == "__main__":
    unittest.main()
