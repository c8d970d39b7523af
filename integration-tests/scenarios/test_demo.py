"""The demo: one in a folder at a time, the ports of the guide, and how it says where they are."""
import json
import os
import socket
import sys

import pytest

from control_plane import ROOT

sys.path.insert(0, str(ROOT / "integration-tests" / "demo"))
import demo  # noqa: E402


class Listening:
    def __init__(self, name, port):
        self.name, self.port, self.url = name, port, f"http://127.0.0.1:{port}"


def test_a_second_demo_in_a_folder_is_refused_while_the_first_is_under_way(tmp_path):
    first = demo.claim(tmp_path / "demo")
    with pytest.raises(demo.Failure) as refused:
        demo.claim(tmp_path / "demo")
    assert f"pid {os.getpid()}" in str(refused.value)
    assert "ESI_DEMO_DIR=" in str(refused.value)
    demo.claim(tmp_path / "another").close()
    first.close()
    demo.claim(tmp_path / "demo").close()


def test_a_demo_that_was_kept_is_not_ended_by_another_one(tmp_path):
    kept = tmp_path / "kept.json"
    demo.refuse_beside_a_kept_one(tmp_path)
    kept.write_text(json.dumps([[os.getpid(), demo.start_time(os.getpid())]]), encoding="utf-8")
    with pytest.raises(demo.Failure) as refused:
        demo.refuse_beside_a_kept_one(tmp_path)
    assert "run.sh stop" in str(refused.value)


def test_what_a_kept_demo_wrote_before_the_machine_was_restarted_refuses_nobody(tmp_path):
    (tmp_path / "kept.json").write_text(json.dumps([[os.getpid(), "1"]]), encoding="utf-8")
    demo.refuse_beside_a_kept_one(tmp_path)


def test_a_port_that_is_taken_is_replaced_by_a_free_one():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert demo.port_or_another(port) not in (port, 0)
    assert demo.port_or_another(port) == port


def test_all_three_ports_are_told_and_those_that_are_not_the_guides():
    lines = demo.ports_text([Listening("testbed", 8080), Listening("batchjob", 40001),
                             Listening("scheduling", 8082)]).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["esi-testbed", "http://127.0.0.1:8080"], ["esi-batchjob", "http://127.0.0.1:40001"],
        ["esi-scheduling", "http://127.0.0.1:8082"]]
    assert ["which is taken" in line for line in lines] == [False, True, False]


def test_no_operator_of_the_demo_needs_a_lease_in_time():
    assert "--leader-elect=false" in demo.ALONE
