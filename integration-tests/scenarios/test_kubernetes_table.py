"""The table of docs/kubernetes-versions.md is written from what a run did."""
import sys
import xml.etree.ElementTree as tree

from control_plane import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import kubernetes_table  # noqa: E402

RUN = """<testsuites><testsuite>
  <properties><property name="kubernetes" value="v1.34.4"/></properties>
  <testcase name="a"/><testcase name="b"/>
  <testcase name="c"><failure message="no"/></testcase><testcase name="d"><error message="no"/></testcase>
  <testcase name="e"><skipped message="this is not served"/></testcase>
  <testcase name="f"><skipped message="this is not served"/></testcase>
</testsuite></testsuites>"""
ROW = "| 1.34.4 | 2 | 2 | 2 | this is not served |"
TABLE = """Words before.

| Kubernetes | passed |
|---|---|
| 1.36.3 | old |
| 1.33.13 | old |

Words after.
"""


def test_a_row_counts_what_the_run_did_and_names_what_it_lacked():
    assert kubernetes_table.row(tree.fromstring(RUN)) == ROW


def test_a_run_that_lacked_nothing_says_so():
    run = "<a><property name='kubernetes' value='v1.36.3'/><testcase/></a>"
    assert kubernetes_table.row(tree.fromstring(run)) == "| 1.36.3 | 1 | 0 | 0 | nothing |"


def test_a_new_version_finds_its_place():
    assert kubernetes_table.with_row(TABLE, ROW) == TABLE.replace("| 1.33.13", f"{ROW}\n| 1.33.13")


def test_the_row_of_the_same_minor_version_is_replaced():
    newer = "| 1.36.4 | new |"
    assert kubernetes_table.with_row(TABLE, newer) == TABLE.replace("| 1.36.3 | old |", newer)


def test_the_first_row_comes_below_the_head():
    empty = TABLE.replace("| 1.36.3 | old |\n| 1.33.13 | old |\n", "")
    assert kubernetes_table.with_row(empty, ROW) == empty.replace("|---|---|", f"|---|---|\n{ROW}")
