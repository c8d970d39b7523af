"""API servers without streaming lists (before Kubernetes 1.32, or with the feature off)."""
import pytest

import objects
from breakpoint_proxy import Proxy
from operators import Operator
from product import OPERATORS


@pytest.fixture
def on_an_older_server(operators, folder):
    """The three operators behind proxies that refuse streaming lists as such an API server does."""
    assert operators.stop() == []
    proxies, older = [], []
    try:
        for name in OPERATORS:
            proxy = Proxy(operators.kubeconfigs[name], folder, f"{name}-older")
            proxies.append(proxy)
            proxy.refuse(lambda request: "sendInitialEvents=" in request.target, 422,
                         "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the "
                         "WatchList feature gate is enabled")
            older.append(Operator(name, proxy.kubeconfig, folder / "operators", replica="older").start())
        for operator in older:
            operator.ready()
        yield older
    finally:
        try:
            for operator in older:
                operator.stop()
        finally:
            for proxy in proxies:
                proxy.close()
            operators.ensure()


def test_where_streaming_lists_are_refused_they_list_and_watch(scene, flink, on_an_older_server):
    scene.may_restart = True
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=0)
    scene.apply(objects.flink_job("b", seconds=0))
    scene.job_state("b", "ReadyState")
    scene.wait_condition("BatchJob", "b", "BackendAvailable", "True")
    scene.queue("plan", ["a", "b"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0}
    assert scene.seats("b") == {1: n0}
    scene.released(jobs=["a", "b"])
