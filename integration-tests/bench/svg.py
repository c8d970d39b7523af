"""Plots as SVG, without a library: lines over a logarithmic axis, and bars. The same numbers give the same text."""
import math

COLOURS = ("#1f6f8b", "#d1495b", "#6a994e", "#8d6a9f", "#b08900")
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 44, 46


def number(value):
    """1,500 as 1.5k; 0.25 as it is."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, what, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(what)}</text>'


def nice(top):
    """A round number not below `top`."""
    if top <= 0:
        return 1.0
    unit = 10 ** math.floor(math.log10(top))
    return next(unit * step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if unit * step >= top * 0.999999)


class Picture:
    def __init__(self, title, unit, top):
        self.top = nice(top)
        self.parts = [text(WIDTH / 2, 18, title, more=' font-weight="bold"'),
                      text(LEFT, 36, unit, "end", ' fill="#666"')]
        for i in range(5):
            value = self.top * i / 4
            y = self.y(value)
            self.parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
            self.parts.append(text(LEFT - 6, y + 4, number(value), "end"))

    def y(self, value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top

    def legend(self, names):
        x = LEFT + 10
        for name, colour in zip(names, COLOURS):
            self.parts.append(f'<rect x="{x}" y="{HEIGHT - 14}" width="10" height="10" fill="{colour}"/>')
            self.parts.append(text(x + 14, HEIGHT - 5, name, "start"))
            x += 24 + 7 * len(name)

    def svg(self):
        size = f'width="{WIDTH}" height="{HEIGHT}"'
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {size} '
                'font-family="sans-serif" font-size="12">')
        return "\n".join([head, f'<rect {size} fill="white"/>', *self.parts, "</svg>"]) + "\n"


def lines(title, unit, x_name, series):
    """`series`: {name: [(x, y)]}; x is logarithmic, and each x has its mark."""
    points = [point for values in series.values() for point in values]
    marks = sorted({x for x, _ in points})
    picture = Picture(title, unit, max(y for _, y in points))
    low, high = math.log(marks[0]), math.log(marks[-1])

    def place(x):
        share = 0.5 if high == low else (math.log(x) - low) / (high - low)
        return LEFT + 20 + (WIDTH - LEFT - RIGHT - 40) * share
    for mark in marks:
        picture.parts.append(text(place(mark), HEIGHT - BOTTOM + 16, number(mark)))
    picture.parts.append(text(WIDTH - RIGHT, HEIGHT - BOTTOM + 30, x_name, "end", ' fill="#666"'))
    for (name, values), colour in zip(series.items(), COLOURS):
        path = " ".join(f"{place(x):.1f},{picture.y(y):.1f}" for x, y in sorted(values))
        picture.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        picture.parts += [f'<circle cx="{place(x):.1f}" cy="{picture.y(y):.1f}" r="3.5" fill="{colour}"/>'
                          for x, y in values]
    picture.legend(series)
    return picture.svg()


def bars(title, unit, groups):
    """`groups`: {group: {name: value}}; the same names in each group have the same colour."""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    picture = Picture(title, unit, max(value for values in groups.values() for value in values.values()))
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    width = min(48, 0.8 * room / len(names))
    for i, (group, values) in enumerate(groups.items()):
        middle = LEFT + room * (i + 0.5)
        picture.parts.append(text(middle, HEIGHT - BOTTOM + 16, group))
        begin = middle - width * len(values) / 2
        for k, (name, value) in enumerate(values.items()):
            x, y = begin + width * k, picture.y(value)
            picture.parts.append(f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{width - 2:.1f}" '
                                 f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[names.index(name)]}"/>')
            picture.parts.append(text(x + width / 2, y - 4, number(value), more=' font-size="10"'))
    picture.legend(names)
    return picture.svg()
