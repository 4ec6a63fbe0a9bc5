"""Draws time against size, with the steps of the model, readable on light and on dark ground."""

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 736, 64, 364

# The colours of tiebreak's own pictures, in pairs.
STYLE = """
&{background:#fff}
& text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2328}
& .small{font-size:12px}
& .dim{fill:#59636e}
& .paper{fill:#fff}
& .axis{stroke:#59636e}
& .grid{stroke:#d1d9e0}
& .model{fill:none;stroke:#59636e;stroke-width:2}
& .mark{stroke:#59636e;stroke-dasharray:3 4}
& .fill0{fill:#0969da}
& .fill1{fill:#bc4c00}
@media (prefers-color-scheme:dark){
&{background:#0d1117}
& text{fill:#f0f6fc}
& .dim{fill:#9198a1}
& .paper{fill:#0d1117}
& .axis,& .model,& .mark{stroke:#9198a1}
& .grid{stroke:#3d444d}
& .fill0{fill:#58a6ff}
& .fill1{fill:#f0883e}
}
"""


def draw(path, ms, model, series):
    """Draws the model, a time for each size, and the measured points of cubic and of bbr."""
    most, slowest = model[-1][0], max(time for _, time in [*model, *series[0], *series[1]])
    top = (slowest // ms + 1) * ms

    def x(size):
        return LEFT + (RIGHT - LEFT) * size / most

    def y(time):
        return BOTTOM - (BOTTOM - TOP) * time / top

    steps = [model[0]]
    parts = []
    for before, after in zip(model, model[1:]):
        if after[1] > before[1]:
            steps += [before, after]
            parts.append(line("mark", x(after[0]), TOP, x(after[0]), BOTTOM))
            parts.append(text("small dim", x(after[0]) + 4, TOP - 6, "start", f"{before[0]} bytes"))
    steps.append(model[-1])
    for time in range(0, int(top) + 1, ms):
        parts.append(line("axis" if time == 0 else "grid", LEFT, y(time), RIGHT, y(time)))
        parts.append(text("small dim", LEFT - 8, y(time) + 4, "end", f"{time} ms"))
    for size in range(0, most + 1, 16000):
        parts.append(text("small dim", x(size), BOTTOM + 20, "middle", f"{size // 1000} kB"))
    corners = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in steps)
    parts.append(f'<polyline class="model" points="{corners}"/>')
    for place, points in enumerate(series):
        for size, time in points:
            parts.append(circle(f"fill{place}", x(size), y(time)))
    legend = [("fill0", "cubic"), ("fill1", "bbr")]
    for place, (fill, word) in enumerate(legend):
        parts.append(circle(fill, LEFT + 72 * place + 4, HEIGHT - 18))
        parts.append(text("small", LEFT + 72 * place + 14, HEIGHT - 14, "start", word))
    parts.append(line("model", LEFT + 144, HEIGHT - 18, LEFT + 164, HEIGHT - 18))
    parts.append(text("small", LEFT + 170, HEIGHT - 14, "start", "the model"))
    title = f"Time of a page over a connection with a round trip of {ms} ms"
    parts.append(text("", LEFT, 28, "start", title))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tiebreak-first-window" role="img" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">\n'
        f"<title>{title}</title>\n<style>{STYLE.replace('&', '.tiebreak-first-window')}</style>\n"
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>\n'
        + "\n".join([*parts, "</svg>\n"])
    )


def line(style, x1, y1, x2, y2):
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def circle(style, x, y):
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def text(style, x, y, anchor, words):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
