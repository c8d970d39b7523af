"""An account with the chart's roles for people, and a token of it for the interface."""
import contextlib
import re

from control_plane import MANIFESTS


def roles_of_chart():
    """The ClusterRoles esi-view, esi-edit and esi-testbed-admin of the chart."""
    text = (MANIFESTS / "install" / "install.yaml").read_text("utf-8")
    found = [each for each in text.split("\n---\n") if re.search(r"^  name: esi-(view|edit|testbed-admin)$", each, re.M)]
    assert len(found) == 3
    return "\n---\n".join(found)


@contextlib.contextmanager
def account(plane, namespace, name="client", roles=("view", "edit", "testbed-admin")):
    """The token of a new account with these roles in the namespace, which sees all others."""
    plane.kubectl("apply", "-f", "-", stdin=roles_of_chart())
    plane.kubectl("create", "serviceaccount", name, "-n", namespace)
    who = f"--serviceaccount={namespace}:{name}"
    for role in roles:
        plane.kubectl("create", "rolebinding", f"{name}-{role}", "-n", namespace, f"--clusterrole=esi-{role}", who)
    everywhere = f"{namespace}-{name}"
    plane.kubectl("create", "clusterrolebinding", everywhere, "--clusterrole=esi-view", who)
    try:
        yield plane.kubectl("create", "token", name, "-n", namespace, "--audience=esi", "--duration=4h").strip()
    finally:
        plane.kubectl("delete", "clusterrolebinding", everywhere)
