"""The innermost loops of an assembly file of 64-bit Arm."""
import re
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property

LABEL = re.compile(r"^(\.L\w+|\d+):")
FUNCTION = re.compile(r"^([A-Za-z_]\w*):")
BRANCH = re.compile(r"^\s+(?:b|b\.?(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|any|none|first|last)|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\w+|\d+b)\s*$", re.I)
ENDS = re.compile(r"^\s+(?:b|br|ret)(?:\s|$)", re.I)  # no way to the next line
# Instructions that a unit's peak is stated for: each multiplies and adds the lanes of one vector.
MULTIPLY_ADD = re.compile(r"^\s+(fmla|bfmmla|sdot|udot|usdot|sudot|smmla|ummla|usmmla|smlal2?|umlal2?|mla)\s", re.I)
VECTOR = re.compile(r"\b[vqz]\d+\b", re.I)
STACK = re.compile(r"\[(?:sp|x29)\b", re.I)


@dataclass
class Loop:
    function: str  # demangled
    lines: list
    each: list  # those of the lines that every iteration passes

    @property
    def text(self):
        return "\n".join(self.lines)

    @property
    def instructions(self):
        return sum(not LABEL.match(line) for line in self.lines)

    @property
    def stack(self):
        """Instructions of each iteration that read or write the stack. Those that a branch may skip are not counted: the ends of rows, where
        a part of a vector goes through an array, are within some loops."""
        return sum(bool(STACK.search(line)) for line in self.each)

    @property
    def vector_instructions(self):
        return sum(bool(VECTOR.search(line)) for line in self.lines)

    @cached_property
    def kinds(self):
        return [m[1].lower().rstrip("2") for line in self.lines if (m := MULTIPLY_ADD.match(line))]

    @property
    def multiply_adds(self):
        return len(self.kinds)

    @property
    def unit(self):
        """The instruction that the loop multiplies and adds with most; "" for a loop that does not."""
        return max(set(self.kinds), key=self.kinds.count) if self.kinds else ""

    @property
    def name(self):
        """The function without its namespaces, types of parameters and return type: "RunTile<8, 2, false>"."""
        name = re.sub(r"\bmete::|\bN_NEON\w*::|\(anonymous namespace\)::|\bstd::", "", self.function)
        name = re.sub(r"\{lambda\(.*?\)#(\d+)\}", r"lambda\1", name)
        depth = 0
        for i, c in enumerate(name):  # cut the parameters
            depth += (c == "<") - (c == ">")
            if c == "(" and depth == 0 and i > 0:
                name = name[:i]
                break
        name = name.split("> ", 1)[-1] if "> " in name and not name.startswith("operator") else name
        return name.removeprefix("void ")[:44]


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return done.stdout.split("\n")


def instructions_only(text):
    """Drops comments, directives and blank lines, and the marks around inline assembly."""
    lines = (re.sub(r"//.*|^\s*#.*", "", line).rstrip() for line in text.split("\n"))
    return [line for line in lines if line and not re.match(r"^\s*\.(?!L)", line)]


def functions_of(lines):
    """Yields (symbol, its lines)."""
    name, body = "", []
    for line in lines:
        if m := FUNCTION.match(line):
            yield name, body
            name, body = m[1], []
        else:
            body.append(line)
    yield name, body


class Blocks:
    """The basic blocks of a function: `lines` of each, and `after`, those that control may go to from it. Jumps through registers, as
    switches have them, are left out: no loop of a kernel goes through one."""

    def __init__(self, body):
        self.lines = [[]]
        for line in body:
            if LABEL.match(line):
                self.lines.append([])
            self.lines[-1].append(line)
            if BRANCH.match(line) or ENDS.match(line):
                self.lines.append([])
        self.lines = [b for b in self.lines if b]
        starts = {}
        for i, block in enumerate(self.lines):
            if m := LABEL.match(block[0]):
                starts.setdefault(m[1], []).append(i)
        self.after = [self._after(i, starts) for i in range(len(self.lines))]

    def _after(self, i, starts):
        last = self.lines[i][-1]
        after = [] if ENDS.match(last) or i + 1 == len(self.lines) else [i + 1]
        if m := BRANCH.match(last):
            if m[1].startswith("."):
                after += starts.get(m[1], [])
            else:  # "0b": the nearest label 0 before
                after += [s for s in starts.get(m[1][:-1], []) if s <= i][-1:]
        return after

    def dominators(self):
        """Returns for each block those that every way from the function's entry to it passes; None for blocks that none reaches."""
        before = [[] for _ in self.lines]
        for i, after in enumerate(self.after):
            for j in after:
                before[j].append(i)
        found = [None] * len(self.lines)
        found[0] = {0}
        changed = True
        while changed:
            changed = False
            for i in range(1, len(self.lines)):
                known = [found[p] for p in before[i] if found[p] is not None]
                if known and (new := set.intersection(*known) | {i}) != found[i]:
                    found[i] = new
                    changed = True
        return found, before

    def loops(self):
        """Returns the natural loops: a branch back to a block that dominates it closes a loop. Each is the set of its blocks, and the set of
        those that every iteration passes."""
        dominators, before = self.dominators()
        loops, each = {}, {}
        for tail, after in enumerate(self.after):
            for head in after:
                if dominators[tail] is None or head not in dominators[tail]:
                    continue
                body, todo = {head}, [tail]
                while todo:
                    if (block := todo.pop()) not in body:
                        body.add(block)
                        todo += before[block]
                loops[head] = loops.get(head, set()) | body
                each[head] = each.get(head, body) & dominators[tail]
        return [(loops[head], each[head]) for head in loops]


def innermost_loops(text):
    """Returns the loops that compute on vectors and have no loop in them, in the order of the text."""
    found = []
    for name, body in functions_of(instructions_only(text)):
        if not any(VECTOR.search(line) for line in body):
            continue
        blocks = Blocks(body)
        loops = blocks.loops()
        for loop, each in sorted((x for x in loops if not any(y < x[0] for y, _ in loops)), key=lambda x: min(x[0])):
            lines = [line for i in sorted(loop) for line in blocks.lines[i]]
            if any(VECTOR.search(line) for line in lines):
                found.append(Loop(name, lines, [line for i in sorted(each) for line in blocks.lines[i]]))
    names = dict(zip((x.function for x in found), demangled([x.function for x in found])))
    return [replace(x, function=names[x.function]) for x in found]
