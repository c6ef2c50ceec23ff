"""Tables of text. Standard library only."""


def number(value, digits=3):
    """Three digits that mean something, without exponents: 0.123, 1.23, 12.3, 123, 1234"""
    if value >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits - 1 if value >= 1 and value < 10 else digits - 2 if value >= 10 else digits}f}"


def aligned(rows, markdown):
    """Columns of equal width, text left and numbers right; as a Markdown table where asked."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = [not any(row[i][:1].isdigit() for row in rows[1:]) or i == 0 for i in range(len(widths))]
    lines = [[cell.ljust(w) if l else cell.rjust(w) for cell, w, l in zip(row, widths, left)] for row in rows]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in lines)
    rule = ["-" * w if l else "-" * (w - 1) + ":" for w, l in zip(widths, left)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines[:1] + [rule] + lines[1:])


def listed(lines, markdown):
    """Sentences below a table."""
    return "\n".join(("- " if markdown else "") + line for line in lines)
