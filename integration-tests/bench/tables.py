"""Numbers as markdown, and as what docs/performance.md shows between its marks."""
import re
import statistics


def p95(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


def ms(value):
    """Three digits are enough: 0.42 ms, 4.2 ms, 42 ms, 1,042 ms."""
    value *= 1000
    if value < 1:
        return f"{value:.2f} ms"
    return f"{value:.1f} ms" if value < 10 else f"{value:,.0f} ms"


def spread(values):
    """median, p95, n: three cells."""
    if not values:
        return ["-", "-", "0"]
    return [ms(statistics.median(values)), ms(p95(values)), str(len(values))]


def median(values):
    return statistics.median(values) if values else None


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def into_document(text, parts):
    """`text` with each part between its marks: <!-- bench: NAME --> ... <!-- bench end -->."""
    for name, body in parts.items():
        pattern = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- bench end -->)", re.DOTALL)
        if not pattern.search(text):
            raise RuntimeError(f"docs/performance.md has no marks for {name}")
        text = pattern.sub(lambda found: found[1] + body.rstrip("\n") + "\n" + found[2], text)
    return text
