"""What was measured, as tables and plots. Each table begins with where and at what load it was measured."""
import statistics

import gang_bench
import svg
from product import OPERATORS
from tables import into_document, median, ms, p95, spread, table

__all__ = ["tables", "plots", "into_document"]




#: Kinds of events that are fed, in words.
EVENTS = {"status": "a kubelet reports", "life": "pods come and go"}


def about(part):
    of = part["about"]
    return (f"{of['machine']}; {of['day']}, commit {of['commit']}; load {of['load']} before, {of['load after']} after.")


def mb(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def share(rows):
    return [first + second for first, second, _ in rows]


# --- the real control plane ---

def small_starts(found):
    of = found["small"]
    rows = [
        ["**ESI's share of a start** (sum of the next two)", *spread(share(of["shares"]))],
        ["Scheduling created -> application created", *spread([row[0] for row in of["shares"]])],
        ["job pod created -> bound, the later of two", *spread([row[1] for row in of["shares"]])],
        ["whole start: Scheduling created -> both executors bound", *spread([row[2] for row in of["shares"]])],
        ["by hand: application created -> both executors bound", *spread([row[0] for row in of["hand"]])],
        ["by hand: executor created -> bound, the later of two", *spread([row[1] for row in of["hand"]])],
        ["ghost deleted -> job pod bound", *spread(of["swaps"])],
        ["job pod gone -> ghost bound (seen by a watch)", *spread(of["back"])]]
    out = table(["six slots, one job of two slots", "median", "p95", "n"], rows)
    if of["shares"] and of["hand"]:
        ratio = statistics.median(share(of["shares"])) / statistics.median(row[0] for row in of["hand"])
        out += f"\n\nESI's share is {ratio:.2f} of what the same application takes by hand (the aim: 0.5)."
    writes = ", ".join(f"{of['writes'][name]:.1f} of esi-{name}" for name in OPERATORS)
    return out + f"\nWrites of a start and its release: {writes}."


def chain(found):
    of = found["small"]
    rows = [[i + 1, name.split(": ")[0], f"`{name.split(': ')[1]}`", ms(max(0, waited)), ms(took)]
            for i, (name, (waited, took)) in enumerate(zip(of["chain"], of["chain times"]))]
    return (table(["", "operator", "request", "begins after", "takes"], rows) +
            f"\n\n{len(rows)} requests, one after the other (the aim: 10). The time of the Spark operator and its "
            "driver lies before the first request of the second half.")


def for_each(of, key):
    """How many for a ghost or an event."""
    return of[key] / of.get("slots", of.get("ghosts", of.get("events")))


def large(found):
    rows = {
        "ghosts bound, s": lambda of: f"{of['bound']:.1f}",
        "as many pinned pods bound without ESI, s": lambda of: f"{of['bare']:.1f}",
        "**ESI's rate / bare rate**": lambda of: f"**{of['bare'] / of['bound']:.2f}**",
        "status shows all free, s": lambda of: f"{of['shown']:.1f}",
        "writes for a ghost (create, nominate; kube-scheduler's binding)":
            lambda of: f"{for_each(of, 'pod writes') + for_each(of, 'binds'):.2f}",
        "writes of the Testbed's status for a ghost":
            lambda of: f"{for_each(of, 'status writes'):.4f} ({of['status writes']})",
        "CPU of esi-testbed, s": lambda of: f"{of['cpu']:.1f}",
        "reconciles": lambda of: f"{of['reconciles']:.0f}",
        "/livez meanwhile: median, p99, longest": lambda of: ", ".join(map(ms, of["livez"])),
        "ESI's share of a start in it, median": lambda of: ms(median(share(of["shares"]))) if of["shares"] else "-"}
    # The plot is made of the same numbers, so it comes and goes with the table.
    return "![Filling an empty Testbed](performance/filling.svg)\n\n" + table(
        ["filling an empty Testbed", *(f"{name} slots" for name in found["large"])],
        [[name, *(cell(of) for of in found["large"].values())] for name, cell in rows.items()])


def plane_memory(found):
    stages = found["memory"]
    return table(["resident MB (of that not shared with files)", *stages],
                 [[f"esi-{name}", *(f"{mb(of[name][0])} ({mb(of[name][1])})" for of in stages.values())]
                  for name in OPERATORS])


# --- out of files ---

def of_each(values, show, names=OPERATORS):
    """"1 / 2 / 3": of each operator; a count that an operator does not keep is a dash."""
    return " / ".join("-" if values[name] is None else show(values[name]) for name in names)


def sizes(found):
    rows, first = [], None
    for name, of in found["starts"].items():
        middle = median(share(of["shares"]))
        first = first or middle
        rows.append([
            name, f"{found['numbers'][name]['pods']['objects']:,}", ms(middle), ms(p95(share(of["shares"]))),
            f"{middle / first:.1f}", ms(median([row[0] for row in of["hand"]])), len(of["chain"]),
            of_each(of["writes"], "{:.1f}".format), of_each(of["reconciles"], "{:.0f}".format),
            of_each(of["looks"], "{:,.0f}".format, ("testbed", "scheduling")),
            of_each(of["cpu"], lambda value: f"{value * 1000:,.0f}")])
    return table(["slots", "pods in the cluster", "ESI's share, median", "p95", "to that at 6", "by hand",
                  "requests in a row", "writes (t / b / s)", "reconciles (t / b / s)", "slots looked at (t / s)", 
                  "CPU ms (t / b / s)"], rows)


def start_up(found):
    rows = []
    for size, of in found["start-up"].items():
        for name in OPERATORS:
            runs = of[name]
            middle = {key: statistics.median(row[key] for row in runs)
                      for key in ("parse", "keep", "listed", "decided", "parse cpu", "keep cpu", "cpu")}
            after = statistics.median(max(0, row["decided"] - row["listed"]) for row in runs)
            first = runs[0]
            rows.append([
                size, f"esi-{name}", f"{first['keep objects']:,}",
                *(f"{middle[key]:.2f}" for key in ("parse", "keep", "listed", "decided")), ms(after),
                ms(max(row["deaf"] for row in runs)),
                " / ".join(f"{middle[key]:.2f}" for key in ("parse cpu", "keep cpu", "cpu")),
                " / ".join(mb(first[key][0]) for key in ("parse memory", "keep memory", "memory"))
                + f" ({mb(first['memory'][2])})"])
    return table(["slots", "operator", "objects listed", "floor: parsed, s", "floor: kept, s", "lists delivered, s",
                  "first decision, s", "decision after the lists", "/livez: longest", "CPU s: parsed / kept / operator",
                  "MB: parsed / kept / operator (most ever)"], rows)


def events(found):
    rows = []
    for size, of in found["events"].items():
        for kind, words in EVENTS.items():
            row = of[kind]
            looked = row["looks"]["testbed"]
            rows.append([
                size, words,
                *(f"{row['cpu'][name] * 1e6:.0f}" for name in ("floor-parse", "floor-keep")),
                *(f"{row['cpu'][f'esi-{name}'] * 1e6:.0f}" for name in OPERATORS),
                f"{row['busy']['esi-testbed'] * 100:.1f} %", f"{row['reconciles']['testbed'] / row['events']:.2f}",
                "-" if looked is None else f"{looked / row['events']:.1f}", f"{for_each(row, 'writes'):.3f}",
                ", ".join(map(ms, row["livez"]))])
    return table(["slots", "100 events a second: what", "floor: parsed", "floor: kept",
                  *(f"esi-{name}" for name in OPERATORS),
                  "of a core, testbed", "reconciles an event", "slots looked at an event", "writes an event",
                  "/livez: median, p99, longest"], rows)


def files_memory(found):
    out = table(["resident MB (most ever)", *(f"{size} slots" for size in found["memory"])],
                [[f"esi-{name}", *(f"{mb(of[name][0])} ({mb(of[name][2])})" for of in found["memory"].values())]
                 for name in OPERATORS])
    each = found["differences"]
    if not each:
        return out

    def cost(name, other, count):
        return f"{(each[other][name][1] - each['base'][name][1]) * 1000 / count:.2f}"
    return out + "\n\n" + table(
        ["kB for one more", "slot (its ghost too)", "node", "pod of others"],
        [[f"esi-{name}", cost(name, "slots", 5000), cost(name, "nodes", 500), cost(name, "pods", 10_000)]
         for name in OPERATORS])


def filling(found):
    return table(
        ["slots", "writes of pods for a ghost", "bindings for a ghost", "status writes", "for a ghost", "node writes",
         "reconciles", "slots looked at a ghost", "CPU ms a ghost", "s"],
        [[size, f"{for_each(of, 'pod writes'):.2f}", f"{for_each(of, 'binds'):.2f}", of["status writes"],
          f"{for_each(of, 'status writes'):.4f}", of["node writes"], f"{of['reconciles']:.0f}",
          "-" if of["looks"] is None else f"{for_each(of, 'looks'):.1f}", f"{for_each(of, 'cpu') * 1000:.2f}",
          f"{of['seconds']:.1f}"] for size, of in found["filling"].items()])


def failover(found):
    of = found["failover"]
    return table(["slots", "kill -9 -> lease taken, s", "lease taken -> first decision, s", "n"],
                 [[of["slots"], f"{statistics.median(row['lease'] for row in of['runs']):.1f}",
                   f"{statistics.median(row['decided'] - row['lease'] for row in of['runs']):.2f}", len(of["runs"])]])


def rest(found):
    return table(["slots", "bytes of an answer", "median", "p95", "n", "cut off", "CPU of esi-scheduling, ms"],
                 [[size, f"{of['bytes']:,}", *spread(of["times"]), of.get("cut", 0), f"{of['cpu'] * 1000:.1f}"]
                  for size, of in found["rest"].items()])


def reads(found):
    """Of several runs the median of each column."""
    rows = []
    for name, of in found.items():
        for connections, runs in of.items():
            rate, p50, p99, cpu = (statistics.median(run[key] for run in runs) for key in ("rate", "p50", "p99", "cpu"))
            rows.append([f"`{name}`", connections, f"{rate:,.0f}", ms(p50), ms(p99), f"{cpu * 1e6:.0f}"])
    return table(["interface", "connections", "requests a second", "median", "p99", "CPU of esi-scheduling, us"], rows)


# --- gangs ---

#: Sides of gang_bench.py in words, and its kinds of gangs.
SIDES = {"bare": "the same pods without groups", "coscheduling": "coscheduling", "esi": "ESI"}


def gangs(found):
    one = next(iter(found.values()))
    size, bare = one["size"], found.get("bare")
    large = f"gangs of {size['members']}"
    kinds = {"steady": f"gangs of 3, one each {gang_bench.PACE:g} s", "threes": "gangs of 3, all at once",
             "large": f"{large}, all at once"}

    def rate(of):
        return of["storm started"] / of["storm"] if of["storm"] else 0.0

    def rated(of):
        against = f" ({rate(of) / rate(bare):.2f})" if bare and rate(bare) and of is not bare else ""
        return f"**{rate(of):.1f}**{against}"

    def times(of, what, kind):
        values = of[what][kind]
        return f"{seconds(statistics.median(values))}, {seconds(p95(values))}, {seconds(max(values))}" if values else "-"

    def written(of, kind):
        row = of["writes"][kind]
        parts = ", ".join(f"{what} {number:.1f}" for what, number in sorted(row.items()))
        return f"**{sum(row.values()):.1f}** ({parts})"

    def ordinary(of, when):
        values = of["ordinary"].get(when)
        return f"{seconds(statistics.median(values))}, {seconds(p95(values))} ({len(values)})" if values else "-"

    def taken(of):
        """Of ESI alone a place is promised; the judge names each of the two pods once, whichever came to the node last."""
        return str(sum(each.startswith(("place-taken", "over-promised")) for each in of["faults"])) if of["memory"] else "-"

    rows = {"gangs that started": lambda of: f"{sum(of['started'].values()):,} of {sum(of['gangs'].values()):,}",
            "gangs that stay in part; pods that lost a place": lambda of: f"{of['partial']}; {len(of['lost'])}",
            "ordinary pods bound to room of members that were let in": taken,
            "**gangs a second**, all at once (to the first column)": rated}
    for kind, words in kinds.items():
        rows[f"last member created -> all bound: {words}"] = lambda of, kind=kind: times(of, "waits", kind)
    for kind, words in kinds.items():
        rows[f"first member bound -> all bound: {words}"] = lambda of, kind=kind: times(of, "parts", kind)
    for kind, words in kinds.items():
        rows[f"writes for one of the {words}"] = lambda of, kind=kind: written(of, kind)
    rows |= {"Events for a member": lambda of: f"{of['events']:.1f}",
             "ordinary pod created -> bound, while gangs come one by one": lambda of: ordinary(of, "steady"),
             "the same, while they come all at once": lambda of: ordinary(of, "storm"),
             "CPU of kube-scheduler, s": lambda of: f"{of['cpu']['kube-scheduler']:.1f}",
             "CPU of esi-testbed, s": lambda of: f"{of['cpu']['esi-testbed']:.1f}" if of["memory"] else "-",
             "memory of esi-testbed, MB (most ever)":
                 lambda of: f"{mb(of['memory'][0])} ({mb(of['memory'][2])})" if of["memory"] else "-"}
    head = f"{size['threes']:,} gangs of 3 and {size['large']} of {size['members']}, {size['nodes']} nodes"
    return (f"Kubernetes {one['version']}. Times: median, p95, longest (ordinary pods: median, p95, number).\n\n" + table(
        [head, *(SIDES[side] for side in found)],
        [[name, *(cell(of) for of in found.values())] for name, cell in rows.items()]))


def seconds(value):
    return ms(value) if value < 1 else f"{value:.1f} s"


# --- tenants ---

def tenants(found):
    rows = []
    for name, of in found.items():
        peaks = " / ".join(mb(of["peak"][operator]) for operator in OPERATORS)
        good = f"{ms(median(of['good']))}, {ms(p95(of['good']))}, {ms(max(of['good']))}; {of['refused']} of {len(of['good'])}"
        rows.append([name, peaks, good, *(f"{seconds(median(of[way]))}, {seconds(max(of[way]))}" for way in ("esi", "hand"))])
    return table(["meanwhile a tenant", "most memory of testbed / batchjob / scheduling, MB",
                  "a good caller: median, p95, longest; refused", "a run by ESI, start to release: median, longest",
                  "the same application by hand"], rows)


# --- micro ---

def hot_paths(found):
    rows = []
    for program, benches in found.items():
        for name, of in benches.items():
            more = ", ".join(f"{key} {value:,.0f}" for key, value in of.items() if key not in ("ns", "allocations"))
            allocations = f"{of['allocations']:,.1f}" if "allocations" in of else "-"
            rows.append([f"`{name}`", f"{of['ns'] / 1000:,.2f}", allocations, more])
    return table(["benchmark", "us", "allocations", ""], rows)


PARTS = {"plane": {"starts": small_starts, "chain": chain, "filling": large, "plane memory": plane_memory},
         "files": {"sizes": sizes, "start-up": start_up, "events": events, "memory": files_memory,
                   "filled from files": filling, "failover": failover, "rest": rest},
         "micro": {"hot paths": hot_paths},
         "stomp": {"stomp": lambda found: found["line"] + "."},
         "streams": {"streams": lambda found: found["line"] + "."},
         "reads": {"reads": reads},
         "gangs": {"gangs": gangs},
         "tenants": {"tenants": tenants}}


def tables(results):
    """{name: markdown} of what was measured."""
    out = {}
    for part, kinds in PARTS.items():
        if part not in results:
            continue
        for name, make in kinds.items():
            if name == "filling" and not results[part]["found"]["large"]:
                continue
            out[name] = f"{about(results[part])}\n\n{make(results[part]['found'])}"
    return out


def plots(results):
    """{name: SVG}"""
    out = {}
    if "files" in results:
        out |= plots_of_files(results["files"]["found"])
    if "plane" in results and results["plane"]["found"]["large"]:
        out["filling"] = svg.bars("Filling an empty Testbed", "s", {
            f"{name} slots": {"without ESI": of["bare"], "ESI": of["bound"]}
            for name, of in results["plane"]["found"]["large"].items()})
    return out


def plots_of_files(found):
    slots = {name: int(name.replace(",", "")) for name in found["memory"]}
    starts = found["starts"].items()
    out = {}
    if starts:
        out["starts"] = svg.lines("ESI's share of a start, out of files", "ms, median", "slots", {
            "ESI's share": [(slots[name], median(share(of["shares"])) * 1000) for name, of in starts],
            "the whole by hand": [(slots[name], median([row[0] for row in of["hand"]]) * 1000)
                                  for name, of in starts]})
    out["memory"] = svg.lines("Resident memory, out of files", "MB", "slots", {
            f"esi-{name}": [(slots[size], of[name][0]) for size, of in found["memory"].items()] for name in OPERATORS})
    size = list(found["events"])[-1]
    out["events"] = svg.bars(f"CPU for one pod event, {size} slots", "us", {
        words: {name: found["events"][size][kind]["cpu"][name] * 1e6
                for name in ("floor-parse", "floor-keep", "esi-testbed", "esi-scheduling")}
        for kind, words in EVENTS.items()})
    size = list(found["start-up"])[-1]
    out["start-up"] = svg.bars(f"Start-up with {size} slots", "s, median", {
        f"esi-{name}": {what: statistics.median(row[key] for row in found["start-up"][size][name])
                        for what, key in (("floor: parsed", "parse"), ("floor: kept", "keep"),
                                          ("first decision", "decided"))}
        for name in OPERATORS})
    return out
