"""Who is placed beside whom, and in which wave. Pure functions.

**Pairs.** The original's scheduler takes one job after another and gives each the best partner left;
what is left for the last ones may be bad. Here the pairs are a minimum-weight perfect matching (the
blossom algorithm, networkx): of all ways to pair the jobs, the one with the least sum of run times.
With an odd number one job runs alone, and it is chosen by the same sum.

**Waves.** A wave is one pair on each node; the next one starts when all of it has ended, so that a
pair is never beside anybody but each other. A wave takes as long as its longest job: pairs in order
of their length, longest first, make the sum over the waves the least possible.
"""
from __future__ import annotations

from itertools import combinations

import networkx

from esi_colocation.matrix import Matrix

Pair = tuple[str, ...]  # two jobs, or one that runs alone
NOBODY = ""  # beside whom that one runs, in the graph


def pairs(matrix: Matrix, names: list[str]) -> list[Pair]:
    graph = networkx.Graph()
    graph.add_nodes_from(sorted(names))
    for a, b in combinations(sorted(names), 2):
        graph.add_edge(a, b, weight=milliseconds(matrix.expected(a, b) + matrix.expected(b, a)))
    if len(names) % 2:
        for name in names:
            graph.add_edge(name, NOBODY, weight=milliseconds(matrix.alone(name)))
    matched = networkx.min_weight_matching(graph)
    return sorted(tuple(sorted(name for name in pair if name != NOBODY)) for pair in matched)


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)  # whole numbers, so that the matching is exact


def seconds(matrix: Matrix, pair: Pair) -> dict[str, float]:
    """{job: its expected run time in this pair}."""
    if len(pair) == 1:
        return {pair[0]: matrix.alone(pair[0])}
    a, b = pair
    return {a: matrix.expected(a, b), b: matrix.expected(b, a)}


def waves(matrix: Matrix, found: list[Pair], nodes: int) -> list[list[Pair]]:
    longest_first = sorted(found, key=lambda pair: (-max(seconds(matrix, pair).values()), pair))
    return [longest_first[at:at + nodes] for at in range(0, len(longest_first), nodes)]


def rounds(names: list[str]) -> dict[Pair, int]:
    """{pair: round} in which all pairs of a round are disjoint, as in a tournament (circle method)."""
    table: list[str | None] = sorted(names)
    if len(table) % 2:
        table.append(None)
    found = {}
    for number in range(len(table) - 1):
        for a, b in zip(table[:len(table) // 2], reversed(table[len(table) // 2:])):
            if a is not None and b is not None:
                found[tuple(sorted((a, b)))] = number
        table = [table[0], table[-1], *table[1:-1]]
    return found
