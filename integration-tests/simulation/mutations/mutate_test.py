#!/usr/bin/env python3
"""Tests of mutate.py, with a stand-in for the simulation: a shell script that is 'built' by copying
it, and that is red where the mutated text tells it so."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import mutate

PROGRAM = """#!/bin/sh
# cases | seeds --from N --count N ... | gangs ... | foresee --from N --count N ...
{body}
exit 0
"""
# What the three mutations make of the line that begins with "fine".
SEEDS_RED_FROM_30 = """
if [ "$1" = seeds ] && [ "$3" -le 30 ] && [ $(($3 + $5)) -gt 30 ]; then
    echo "seed 30: slot-shared: two jobs in slot 1"
    exit 1
fi
"""
CASES_RED = """
if [ "$1" = cases ]; then
    echo "case a-job-that-waits: not-converged: still waits"
    exit 1
fi
"""
HEAD = "mistake: m\nsource: s\nexpect: slot-shared\n\n"


class with_a_checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        self.source = root / "common" / "program.sh"
        self.source.parent.mkdir()
        self.source.write_text(PROGRAM.format(body="fine=1"))
        (root / "CMakeLists.txt").write_text("add_subdirectory(common)\n")
        self.list = root / "list"
        self.list.mkdir()
        replaced = {"CHECKOUT": root, "LIST": self.list, "WORK": root / "build",
                    "TREE": root / "build" / "tree", "CLEAN": root / "build" / "clean",
                    "SOURCES": ["common"], "build": self.build}
        for name, value in replaced.items():
            self.addCleanup(setattr, mutate, name, getattr(mutate, name))
            setattr(mutate, name, value)
        self.options = SimpleNamespace(jobs=1, start=1, budget=600, timeout=20,
                                       quick=False)

    def build(self, jobs):
        program = mutate.WORK / "program"
        program.write_text((mutate.TREE / "common" / "program.sh").read_text())
        program.chmod(0o755)
        return program

    def mutation(self, name, replacement, find="fine=1"):
        added = "".join("+" + line + "\n" for line in replacement.strip().splitlines())
        (self.list / f"{name}.mutation").write_text(
            HEAD + f"@ common/program.sh\n-{find}\n" + added)

    def hunt(self):
        mutations, problems = mutate.load([])
        self.assertEqual(problems, [])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            verdicts = mutate.hunt_all(mutations, self.options)
        return verdicts, out.getvalue()


class a_hunt(with_a_checkout):
    def test_names_the_seed_that_went_red_and_counts_those_before_it(self):
        self.mutation("seeds", SEEDS_RED_FROM_30)
        (verdict,), table = self.hunt()
        self.assertEqual((verdict.caught, verdict.rule, verdict.seeds),
                         ("seed 30", "slot-shared", 30))
        self.assertIn("seed 30: slot-shared\n", table)

    def test_looks_at_the_kept_cases_first(self):
        self.mutation("cases", CASES_RED)
        (verdict,), table = self.hunt()
        self.assertEqual((verdict.caught, verdict.seeds), ("case a-job-that-waits", 0))
        self.assertIn("not-converged (expected slot-shared)", table)

    def test_asks_for_answers_where_nothing_else_is_changed(self):
        self.addCleanup(setattr, mutate, "ANSWERS", mutate.ANSWERS)
        mutate.ANSWERS = ("common/",)
        self.mutation("answers", CASES_RED + SEEDS_RED_FROM_30.replace("seeds", "foresee"))
        (verdict,), _ = self.hunt()
        self.assertEqual((verdict.caught, verdict.seeds), ("seed 30", 30))

    def test_asks_plans_of_gangs_where_only_these_come(self):
        self.addCleanup(setattr, mutate, "GANGS", mutate.GANGS)
        mutate.GANGS = ("common/",)
        self.mutation("gangs", SEEDS_RED_FROM_30.replace("seeds", "gangs"))
        (verdict,), _ = self.hunt()
        self.assertEqual((verdict.caught, verdict.seeds), ("seed 30", 30))

    def test_says_what_survived_after_the_whole_budget(self):
        self.mutation("harmless", "fine=2")
        (verdict,), table = self.hunt()
        self.assertEqual((verdict.caught, verdict.seeds), ("", 600))
        self.assertIn("SURVIVED", table)

    def test_takes_a_program_that_dies_as_caught(self):
        self.mutation("deadly", "kill -SEGV $$")
        (verdict,), _ = self.hunt()
        self.assertEqual(verdict.rule, "dies (SIGSEGV)")

    def test_takes_a_program_that_hangs_as_caught(self):
        self.options.timeout = 1
        self.mutation("endless", "sleep 60")
        (verdict,), _ = self.hunt()
        self.assertEqual(verdict.rule, "hangs (no end within 1 s)")

    def test_does_not_count_a_seed_that_is_red_without_the_mutation(self):
        self.source.write_text(PROGRAM.format(body=SEEDS_RED_FROM_30 + "fine=1"))
        self.mutation("harmless", "fine=2")
        (verdict,), table = self.hunt()
        self.assertEqual(verdict.caught, "")
        self.assertIn("red without a mutation, not counted: seed 30: slot-shared\n", table)

    def test_does_without_the_cases_while_they_are_red(self):
        self.source.write_text(PROGRAM.format(body=CASES_RED + "fine=1"))
        self.mutation("seeds", SEEDS_RED_FROM_30)
        (verdict,), _ = self.hunt()
        self.assertEqual(verdict.caught, "seed 30")

    def test_leaves_checkout_and_copy_as_they_were(self):
        before = self.source.read_text()
        self.mutation("cases", CASES_RED)
        self.hunt()
        self.assertEqual(self.source.read_text(), before)
        self.assertEqual((mutate.TREE / "common" / "program.sh").read_text(), before)

    def test_restores_what_an_interrupted_one_has_left(self):
        self.mutation("harmless", "fine=2")
        copy = mutate.TREE / "common" / "program.sh"
        copy.parent.mkdir(parents=True)
        copy.write_text("exit 1")
        os.utime(copy, (1, 1))
        (copy.parent / "removed.sh").write_text("")
        mutate.copy_sources()
        self.assertEqual(copy.read_text(), self.source.read_text())
        self.assertGreater(copy.stat().st_mtime, 1000)
        self.assertFalse((copy.parent / "removed.sh").exists())


class a_mutation(with_a_checkout):
    def problems(self):
        mutations, problems = mutate.load([])
        return problems + mutate.check(mutations)

    def test_copies_every_folder_that_the_build_has(self):
        self.assertEqual(mutate.not_copied("add_subdirectory(common)\nadd_subdirectory(common/a ${b})\n"
                                           "if(ESI_BENCHMARKS)\n    add_subdirectory(bench)\nendif()\n"), [])
        self.assertEqual(mutate.not_copied("add_subdirectory(memory)\n"), ["memory"])

    def test_must_find_its_lines(self):
        self.mutation("lost", "fine=2", find="fine=7")
        self.assertRegex(self.problems()[0], "lost: its lines are 0 times in common/program.sh")

    def test_must_find_them_once(self):
        self.source.write_text(PROGRAM.format(body="fine=1\nfine=1"))
        self.mutation("twice", "fine=2")
        self.assertRegex(self.problems()[0], "twice: its lines are 2 times")

    def test_finds_whole_lines_only(self):
        self.mutation("half", "fine=2", find="fine=")
        self.assertRegex(self.problems()[0], "half: its lines are 0 times")

    def test_must_change_something(self):
        (self.list / "same.mutation").write_text(HEAD + "@ common/program.sh\n fine=1\n")
        self.assertRegex(self.problems()[0], "finds or changes nothing")

    def test_must_say_what_is_expected_to_catch_it(self):
        (self.list / "mute.mutation").write_text("mistake: m\nsource: s\n\n@ f\n-a\n+b\n")
        self.assertEqual(self.problems(), ["mute.mutation: has no 'expect'"])


if __name__ == "__main__":
    unittest.main()
