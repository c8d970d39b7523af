"""The proxy that test_11 stops operators with does what it says."""
import pytest
import urllib3

from api import Api, ApiException
from breakpoint_proxy import Proxy
from patience import wait


@pytest.fixture
def through(plane, tmp_path):
    plane.kubectl("create", "serviceaccount", "walker", "-n", "default")
    plane.kubectl("create", "clusterrolebinding", "walker", "--clusterrole=edit",
                  "--serviceaccount=default:walker")
    proxy = Proxy(plane.account("default", "walker"), tmp_path, "walker")
    api = Api(proxy.kubeconfig)

    def allowed():  # a moment after the binding was made
        try:
            api.list("ServiceAccount", "default")
        except ApiException as error:
            if error.status != 403:
                raise
            return False
        return True
    wait("the API server to go by the binding", allowed)
    yield proxy, api
    proxy.close()
    plane.kubectl("delete", "clusterrolebinding", "walker")
    plane.kubectl("delete", "serviceaccount", "walker", "-n", "default")


def names(plane):
    return {each["metadata"]["name"] for each in plane.api.list("ServiceAccount", "default")}


def test_a_request_that_meets_no_break_point_passes(plane, through):
    proxy, api = through
    assert {each["metadata"]["name"] for each in api.list("ServiceAccount", "default")} == names(plane)


def test_a_write_broken_before_is_never_done(plane, through):
    proxy, api = through
    acts = []
    point = proxy.break_at(lambda request: request.method == "POST" and "one-before" in request.body,
                           lambda: acts.append("stop"), before=True)
    with pytest.raises(urllib3.exceptions.HTTPError):
        api.create("ServiceAccount", "default", {"metadata": {"name": "one-before"}})
    assert point.hit.is_set() and acts == ["stop"]
    assert "one-before" not in names(plane)


def test_a_write_broken_after_is_done_before_the_action(plane, through):
    proxy, api = through
    seen = []
    proxy.break_at(lambda request: request.method == "POST" and "one-after" in request.body,
                   lambda: seen.append("one-after" in names(plane)))
    api.create("ServiceAccount", "default", {"metadata": {"name": "one-after"}})
    assert seen == [True]
    api.delete("ServiceAccount", "default", "one-after")
