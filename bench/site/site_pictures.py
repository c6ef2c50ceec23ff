"""Pictures of the experiment as SVG. Pure: standard library only."""
import svg

kColours = {"device": svg.kBlue, "raw": svg.kOchre, "scaled": svg.kGreen}
kSteps = {"load_ms": svg.kVermilion, "preprocess_ms": svg.kPurple, "upload_ms": svg.kBlue, "compute_ms": svg.kGreen}
kRow, kLeft, kWidth, kTop = 20, 190, 560, 44  # pixels
kPlot = 150  # pixels: the height of a plot over time


def _legend(colours):
    for i, (name, colour) in enumerate(colours.items()):
        yield f'<rect x="{kLeft + 120 * i}" y="12" width="12" height="12" class="c{colour}"/>'
        yield svg.text(kLeft + 120 * i + 17, 22, name.removesuffix("_ms"))


def steps(title, bars):
    """Bars of (label, {step: ms}), one below the other; a bar that is longer than the picture says its time."""
    longest = max((sum(by.values()) for _, by in bars), default=1)
    parts = list(_legend(kSteps))
    for i, (label, by) in enumerate(bars):
        y, x = kTop + kRow * i, float(kLeft)
        parts.append(svg.text(kLeft - 6, y + 13, label, svg.kEnd))
        for step, colour in kSteps.items():
            width = kWidth * by.get(step, 0) / longest
            parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{kRow - 6}" class="c{colour}"/>')
            x += width
        parts.append(svg.text(round(x + 4, 1), y + 13, f"{sum(by.values()):.0f} ms"))
    return svg.picture(kLeft + kWidth + 90, kTop + kRow * len(bars) + 10, title, "Milliseconds until the answer, a bar for each way and state or link.", parts)


def _line(points, most_x, most_y, top, colour):
    path = " ".join(f"{kLeft + kWidth * x / most_x:.1f},{top + kPlot - kPlot * y / most_y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" class="k{colour}" stroke-width="1.5"/>'


def over_time(title, plots):
    """Plots of (label, unit, {way: [(ms, figure)]}), one below the other, over the same time."""
    most_x = max((x for _, _, ways in plots for points in ways.values() for x, _ in points), default=1) or 1
    parts = list(_legend(kColours))
    for i, (label, unit, ways) in enumerate(plots):
        top = kTop + (kPlot + 40) * i
        most_y = max((y for points in ways.values() for _, y in points), default=1) or 1
        parts.append(svg.text(kLeft - 6, top + 12, label, svg.kEnd))
        parts.append(svg.text(kLeft - 6, top + 28, f"to {most_y:.3g} {unit}", svg.kEnd))
        parts.append(f'<rect x="{kLeft}" y="{top}" width="{kWidth}" height="{kPlot}" fill="none" class="grid"/>')
        parts += [_line(points, most_x, most_y, top, kColours[way]) for way, points in ways.items() if points]
        parts.append(svg.text(kLeft + kWidth, top + kPlot + 15, f"{most_x:.0f} ms", svg.kEnd))
    return svg.picture(kLeft + kWidth + 40, kTop + (kPlot + 40) * len(plots) + 10, title, "A line for each way, from the request to its answer.", parts)
