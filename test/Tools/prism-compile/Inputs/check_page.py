"""Checks a page of --explain-html: its markup, that it needs nothing else, and that it says what the text says.

usage: check_page.py PAGE TEXT     TEXT: what --explain prints of the same entries
"""

import html.parser
import math
import re
import sys

VOID = {"meta", "br", "hr", "img", "input", "link", "base", "source", "embed", "wbr"}
# Nothing that loads, runs or frames; links stay in the page.
FORBIDDEN = {"script", "img", "link", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject"}
ATTRIBUTES = {"class", "id", "href", "lang", "charset", "name", "content", "http-equiv", "scope", "role", "tabindex",
              "aria-label", "aria-labelledby", "viewbox", "d", "x", "y", "width", "height", "rx", "cx", "cy", "r", "transform"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, attributes, parent, []

    def text(self):
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)

    def all(self, tag, kind=None):
        for child in self.children:
            if not isinstance(child, str):
                if child.tag == tag and (kind is None or kind in child.attributes.get("class", "").split()):
                    yield child
                yield from child.all(tag, kind)


class Parser(html.parser.HTMLParser):
    """A tree; whatever a browser would have to repair is an error."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.node = Node("", {}, None)
        self.errors = []

    def handle_starttag(self, tag, attributes):
        if len(dict(attributes)) != len(attributes):
            self.errors.append(f"<{tag}> has an attribute twice")
        child = Node(tag, dict(attributes), self.node)
        self.node.children.append(child)
        if tag not in VOID:
            self.node = child

    def handle_endtag(self, tag):
        if self.node.tag != tag:
            self.errors.append(f"{self.getpos()}: </{tag}> closes <{self.node.tag}>")
        elif self.node.parent:
            self.node = self.node.parent

    def handle_data(self, data):
        self.node.children.append(data)


def words(text):
    return " ".join(text.split())


def check_markup(source, parser):
    yield from parser.errors
    if parser.node is not parser.root:
        yield f"<{parser.node.tag}> is not closed"
    if not source.startswith("<!DOCTYPE html>\n<html lang=\"en\">"):
        yield "no document type or language"
    ids = set()
    nodes = [node for tag in {m.group(1).lower() for m in re.finditer(r"<(\w+)", source)} for node in parser.root.all(tag)]
    for node in nodes:
        if node.tag in FORBIDDEN:
            yield f"<{node.tag}> has no place here"
        for name, value in node.attributes.items():
            if name not in ATTRIBUTES:
                yield f"<{node.tag}> has the attribute {name}"
            if name == "href" and not value.startswith("#"):
                yield f"a link leads to {value}"
        if (name := node.attributes.get("id")) is not None:
            if name in ids:
                yield f"the id {name} is there twice"
            ids.add(name)
    for node in nodes:
        for name in (node.attributes.get("aria-labelledby"), node.attributes.get("href", "")[1:]):
            if name and name not in ids:
                yield f"nothing has the id {name}"
    for svg in parser.root.all("svg"):
        first = next(c for c in svg.children if not isinstance(c, str))
        if first.tag != "title" or not first.text() or svg.attributes.get("role") != "img":
            yield "a picture has no title"
    for style in parser.root.all("style"):
        if re.search(r"url\(|@import|https?:|expression", style.text()):
            yield "the style sheet loads something"
    policies = [m for m in parser.root.all("meta") if m.attributes.get("http-equiv") == "Content-Security-Policy"]
    if not policies or "default-src 'none'" not in policies[0].attributes["content"]:
        yield "no policy that forbids to load and to run"


def read_text(text):
    """Entries of --explain: lines of their own, and targets with plans."""
    entries = []
    for line in text.splitlines():
        if match := re.match(r"entry '(.*)'$", line):
            entries.append({"name": match.group(1), "phrases": [], "targets": {}})
        elif match := re.match(r"  on (.*?): (schedule .*)", line):
            plan, cost, products = match.group(2).split("; ")
            plans = entries[-1]["targets"].setdefault(match.group(1), [])
            plans.append({"phrases": [plan, cost, products.removeprefix("products ")], "limits": [], "segments": []})
        elif match := re.match(r"    (limit.*?): (.*)", line):
            plans[-1]["phrases"] += match.groups()
            plans[-1]["limits"].append(match.group(2))
        elif re.match(r"    (roles of a block|note): ", line):
            plans[-1]["phrases"].append(line.split(": ", 1)[1])
        elif match := re.match(r"    predicted for (.*)", line):
            plans[-1]["phrases"].append(match.group(1))
        elif line.startswith("    sequences split"):
            plans[-1]["phrases"].append(line)
        elif re.match(r"      always \d+ segments", line):
            plans[-1]["phrases"].append(line)
        elif line.startswith("      "):
            head = re.match(r"[^,:]*", line.strip()).group()
            plans[-1]["segments"].append((head, [(int(s or 1), int(h)) for s, h in re.findall(
                r"(?:(\d+) segments|whole) up to (\d+)", line)]))
        elif match := re.match(r"  predicted times on .*?: (none.*|by .*)", line):
            entries[-1]["phrases"].append(match.group(1))
        elif match := re.match(r"  taken on (.*): (.*)", line):
            entries[-1]["phrases"] += [match.group(1), match.group(2)]
        elif match := re.match(r"  (?:recognised|class|work[^:]*): (.*?)(?:; a step is)?$", line):
            entries[-1]["phrases"].append(match.group(1))
        elif not re.match(r"   state \d+", line):
            entries[-1]["phrases"].append(line)
    return entries


def check_segments(article, plan):
    """The table of a split plan says what the lines say, for any number of heads."""
    tables = list(article.all("table"))
    if not plan["segments"]:
        if tables:
            yield "a table of segments of a plan without"
        return
    rows = [[words(cell.text()) for cell in row.children if not isinstance(cell, str)] for row in tables[0].all("tr")]
    bounds = [int(text) for text in rows[0][1:]]
    if [row[0] for row in rows[1:]] != [head for head, _ in plan["segments"]]:
        yield f"rows {[row[0] for row in rows[1:]]}"
    for row, (head, ranges) in zip(rows[1:], plan["segments"]):
        for heads in range(1, 200):
            wanted = next((s for s, most in ranges if heads <= most), 1)
            found = next((cell for bound, cell in zip(bounds, row[1:]) if heads <= bound), "–")
            if found != ("–" if wanted == 1 else str(wanted)):
                yield f"{head}, {heads} heads: {found} on the page, {wanted} in the text"


def check_roofline(figure, table, plans, heads):
    """The points lie where the text's numbers put them, on the axes' own marks."""
    svg = next(figure.all("svg"))
    marks = [(float(t.attributes["x"]), float(t.attributes["y"]), float(words(t.text())))
             for t in svg.all("text") if re.fullmatch(r"[01.]+", words(t.text())) and "number" not in t.attributes["class"]]
    bottom = max(y for _, y, _ in marks)
    xs = sorted((value, x) for x, y, value in marks if y == bottom)[:2] # the last mark stands aside
    ys = sorted((value, y - 4) for x, y, value in marks if y != bottom)[:2]

    def place(ends, value):
        (low, a), (high, b) = ends
        return a + (b - a) * math.log(value / low) / math.log(high / low)

    points = [(float(c.attributes["cx"]), float(c.attributes["cy"]), words(c.text())) for c in svg.all("circle")]
    rows = [[words(cell.text()) for cell in row.children if not isinstance(cell, str)] for row in table.all("tr")][1:]
    expected = []
    for number, plan in enumerate(plans, 1):
        flops, intensity = map(float, re.findall(r"[\d.]+", plan["phrases"][1]))
        for limit in plan["limits"]:
            if match := re.match(r"([\d.]+) ns a token, set by (\w+)", limit):
                speed, by = flops * 1e3 * heads / float(match.group(1)) / 1e3, match.group(2)
            else:
                speed, by = float(re.search(r"at (\d+) FLOP a cycle", limit).group(1)), "arithmetic"
            expected.append((number, intensity, speed, by))
    if not len(points) == len(rows) == len(expected):
        yield f"{len(points)} points and {len(rows)} rows of {len(expected)} limits"
    for (x, y, title), row, (number, intensity, speed, by) in zip(points, rows, expected):
        if not title.startswith(f"plan {number} on ") or row[0] != str(number):
            yield f"'{title}' is plan {number}"
        least, most = (place(xs, intensity + rounding) for rounding in (-0.051, 0.051))
        if not least - 0.6 <= x <= most + 0.6 or abs(y - place(ys, speed)) > 0.9:
            yield f"'{title}' lies at {x}, {y}, expected {place(xs, intensity):.1f}, {place(ys, speed):.1f}"
        if float(row[2]) != intensity or abs(float(row[3].split()[0]) - speed) > 0.06 + 0.003 * speed or row[4] != by:
            yield f"row {row}, expected {intensity}, {speed:.1f}, {by}"


def check_entry(section, entry):
    text = words(section.text())
    if next(section.all("h2")).text() != "Entry " + entry["name"]:
        yield "another name"
    yield from (f"lacks '{words(p)}'" for p in entry["phrases"] if words(p).lower() not in text.lower())
    articles = list(section.all("article"))
    plans = [plan for plans in entry["targets"].values() for plan in plans]
    if len(articles) != len(plans):
        yield f"{len(articles)} plans on the page, {len(plans)} in the text"
    for article, plan in zip(articles, plans):
        yield from check_segments(article, plan)
        around = words(article.text())
        for phrase in map(words, plan["phrases"]):
            if phrase not in around and phrase not in text: # what was refused stands below the plans
                yield f"a plan lacks '{phrase}'"
    heads = int(re.search(r"(\d+) value heads", entry["phrases"][0]).group(1))
    figures = [f for f in section.all("figure") if any(f.all("svg", "roofline"))]
    if len(figures) != len(entry["targets"]):
        yield f"{len(figures)} rooflines of {len(entry['targets'])} targets"
    for figure, plans in zip(figures, entry["targets"].values()):
        table = next(node for node in figure.parent.all("table"))
        yield from check_roofline(figure, table, plans, heads)
    if len(list(section.all("pre"))) != len(articles) or not all(p.text().startswith("tile.program") for p in section.all("pre")):
        yield "not a tile program of each plan"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    parser = Parser()
    parser.feed(source)
    parser.close()
    faults = list(check_markup(source, parser))
    with open(sys.argv[2], encoding="utf-8") as file:
        entries = read_text(file.read())
    sections = list(parser.root.all("section"))
    if len(sections) != len(entries) or not entries:
        faults.append(f"{len(sections)} entries on the page, {len(entries)} in the text")
    for section, entry in zip(sections, entries):
        faults += [f"entry '{entry['name']}': {fault}" for fault in check_entry(section, entry)]
    for fault in faults:
        print(fault)
    print(f"{len(entries)} entries, {len(list(parser.root.all('svg')))} pictures, {len(faults)} faults")
    return bool(faults)


sys.exit(main())
