#!/usr/bin/env python3
"""No include of this checkout runs up or makes a circle, the document shows the floors, and layers.py would see a fault."""
import pathlib
import tempfile
import unittest

import layers


class this_checkout(unittest.TestCase):
    def test_no_include_runs_up(self):
        self.assertEqual(layers.wrong(), [])

    def test_every_pattern_of_the_table_is_a_folder(self):
        for floor in layers.FLOORS:
            for pattern in floor:
                self.assertTrue(list(layers.ROOT.glob(pattern)), pattern)

    def test_the_folders_of_a_part_are_all_that_have_sources(self):
        for part, inner in layers.rooms_of(layers.ROOT).items():
            folders = {path.parent.relative_to(layers.ROOT).as_posix() for path in (layers.ROOT / part).rglob("*.h")}
            self.assertLessEqual(folders, set(inner), part)

    def test_the_document_shows_the_floors(self):
        document = (layers.ROOT / "docs/architecture.md").read_text("utf-8")
        self.assertTrue(layers.table() in document, "not the table of scripts/layers.py --table")


class a_forged_checkout(unittest.TestCase):
    def wrong(self, files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, "utf-8")
            return layers.wrong(root)

    def test_down_and_within_a_folder_is_right(self):
        self.assertEqual(self.wrong({
            "common/base/clock.h": "#include <chrono>\n",
            "common/kube/client.h": '#include "base/clock.h"\n#include "kube/patch.h"\n',
            "common/kube/patch.h": "",
            "operators/testbed/act.cpp": '#include "testbed/act.h"\n#include "kube/client.h"\n',
            "operators/testbed/act.h": "",
        }), [])

    def test_an_include_that_runs_up(self):
        self.assertEqual(self.wrong({
            "common/base/clock.h": '#include "kube/client.h"\n',
            "common/kube/client.h": "",
        }), ["common/base/clock.h: common/base must not include common/kube (kube/client.h)"])

    def test_an_arrow_between_folders_of_one_floor(self):
        self.assertEqual(self.wrong({
            "operators/testbed/act.cpp": '  #  include "batchjob/runs.h"\n',
            "operators/batchjob/runs.h": "",
        }), ["operators/testbed/act.cpp: operators/testbed must not include operators/batchjob (batchjob/runs.h)"])

    def test_kubectl_esi_asks_operators_and_none_of_them_knows_it(self):
        self.assertEqual(self.wrong({
            "operators/kubectl-esi/top.cpp": '#include "scheduling/answers.h"\n',
            "operators/kubectl-esi/top.h": "",
            "operators/scheduling/answers.h": "",
            "operators/scheduling/act.cpp": '#include "kubectl-esi/top.h"\n',
        }), ["operators/scheduling/act.cpp: operators/scheduling must not include operators/kubectl-esi (kubectl-esi/top.h)"])

    def test_a_rule_of_the_simulation_that_knows_an_operator(self):
        self.assertEqual(self.wrong({
            "integration-tests/simulation/check/slots.cpp": '#include "testbed/swap.h"\n',
            "operators/testbed/swap.h": "",
        }), ["integration-tests/simulation/check/slots.cpp: integration-tests/simulation/check must not include "
             "operators/testbed (testbed/swap.h)"])

    def test_what_is_delivered_and_includes_a_test(self):
        self.assertEqual(self.wrong({
            "operators/testbed/act.cpp": '#include "check/slots.h"\n',
            "integration-tests/simulation/check/slots.h": "",
        }), ["operators/testbed/act.cpp: includes integration-tests/simulation/check/slots.h, which only tests may"])

    def test_a_name_that_means_two_files(self):
        self.assertEqual(self.wrong({
            "integration-tests/simulation/base/clock.h": '#include "base/clock.h"\n',
            "common/base/clock.h": "",
        }), ['integration-tests/simulation/base/clock.h: "base/clock.h" is common/base/clock.h and '
             "integration-tests/simulation/base/clock.h"])

    def test_an_arrow_up_within_a_part(self):
        self.assertEqual(self.wrong({
            "operators/testbed/view/view.h": '#include "testbed/room/room.h"\n',
            "operators/testbed/view/view_test.cpp": '#include "testbed/act.h"\n',
            "operators/testbed/room/room.h": '#include "testbed/act.h"\n',
            "operators/testbed/act.h": '#include "testbed/swap/swap.h"\n',
            "operators/testbed/swap/swap.h": "",
        }), ["operators/testbed/room/room.h: operators/testbed/room must not include operators/testbed (testbed/act.h)",
             "operators/testbed/view/view.h: operators/testbed/view must not include operators/testbed/room "
             "(testbed/room/room.h)"])

    def test_a_circle_of_rooms(self):
        self.assertEqual(self.wrong({
            "common/grid/grid.h": "",
            "common/grid/grid.cpp": '#include "grid/grid.h"\n#include "grid/places.h"\n',
            "common/grid/places.h": '#include "grid/rights.h"\n',
            "common/grid/rights.h": '#include "grid/grid.h"\n',
            "common/grid/table.h": '#include "grid/grid.h"\n',
        }), ["a circle of rooms: common/grid/grid, common/grid/places, common/grid/rights"])

    def test_a_folder_without_a_floor_and_a_file_that_is_not_there(self):
        self.assertEqual(self.wrong({
            "common/odds/ends.h": "",
            "common/base/clock.h": '#include "base/gone.h"\n',
        }), ['common/base/clock.h: "base/gone.h" is no file of this repository',
             "common/odds/ends.h: its folder has no floor in scripts/layers.py"])


if __name__ == "__main__":
    unittest.main()
