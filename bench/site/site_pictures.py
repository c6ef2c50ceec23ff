"""Pictures of the experiment as SVG. Pure: standard library only."""
from xml.sax.saxutils import escape

kColours = {"device": "#4080c0", "raw": "#e0a030", "scaled": "#40a060"}
kSteps = {"load_ms": "#c04040", "preprocess_ms": "#e0a030", "upload_ms": "#4080c0", "compute_ms": "#40a060"}
kRow, kLeft, kWidth, kTop = 20, 190, 560, 44  # pixels
kPlot = 150  # pixels: the height of a plot over time


def _svg(width, height, title, parts):
    size = f'width="{width}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">', f"<title>{escape(title)}</title>",
                      f'<rect {size} fill="white"/>', *parts, "</svg>", ""])


def _legend(colours):
    for i, (name, colour) in enumerate(colours.items()):
        yield f'<rect x="{kLeft + 120 * i}" y="12" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{kLeft + 120 * i + 17}" y="22">{escape(name.removesuffix("_ms"))}</text>'


def steps(title, bars):
    """Bars of (label, {step: ms}), one below the other; a bar that is longer than the picture says its time."""
    longest = max((sum(by.values()) for _, by in bars), default=1)
    parts = list(_legend(kSteps))
    for i, (label, by) in enumerate(bars):
        y, x = kTop + kRow * i, float(kLeft)
        parts.append(f'<text x="{kLeft - 6}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
        for step, colour in kSteps.items():
            width = kWidth * by.get(step, 0) / longest
            parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{kRow - 6}" fill="{colour}"/>')
            x += width
        parts.append(f'<text x="{x + 4:.1f}" y="{y + 13}">{sum(by.values()):.0f} ms</text>')
    return _svg(kLeft + kWidth + 90, kTop + kRow * len(bars) + 10, title, parts)


def _line(points, most_x, most_y, top, colour):
    path = " ".join(f"{kLeft + kWidth * x / most_x:.1f},{top + kPlot - kPlot * y / most_y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def over_time(title, plots):
    """Plots of (label, unit, {way: [(ms, figure)]}), one below the other, over the same time."""
    most_x = max((x for _, _, ways in plots for points in ways.values() for x, _ in points), default=1) or 1
    parts = list(_legend(kColours))
    for i, (label, unit, ways) in enumerate(plots):
        top = kTop + (kPlot + 40) * i
        most_y = max((y for points in ways.values() for _, y in points), default=1) or 1
        parts.append(f'<text x="{kLeft - 6}" y="{top + 12}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<text x="{kLeft - 6}" y="{top + 28}" text-anchor="end">to {most_y:.3g} {escape(unit)}</text>')
        parts.append(f'<rect x="{kLeft}" y="{top}" width="{kWidth}" height="{kPlot}" fill="none" stroke="#cccccc"/>')
        parts += [_line(points, most_x, most_y, top, kColours[way]) for way, points in ways.items() if points]
        parts.append(f'<text x="{kLeft + kWidth}" y="{top + kPlot + 15}" text-anchor="end">{most_x:.0f} ms</text>')
    return _svg(kLeft + kWidth + 40, kTop + (kPlot + 40) * len(plots) + 10, title, parts)
