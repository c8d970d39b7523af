"""The Kubernetes API as plain JSON, over the official client (credentials, TLS, connections).

Objects are dicts as the API server sends them: a test reads and writes what a person would see with
`kubectl -o json`, and nothing here knows more about ESI than the names of its kinds.
"""
import json
import sys
import urllib.parse

import kubernetes

import product
from patience import PATIENCE

# Objects of people nest deeper than Python's readers go by default.
sys.setrecursionlimit(20_000)

ApiException = kubernetes.client.ApiException

#: kind -> (prefix of its path, plural, is it in a namespace)
KINDS = {
    **{kind: (f"/apis/{product.GROUP}/v1alpha1", plural, True) for kind, plural in product.KINDS.items()},
    **{kind: (f"/apis/{api}", plural, True) for kind, (api, plural) in product.APPLICATIONS.items()},
    "Pod": ("/api/v1", "pods", True),
    "Binding": ("/api/v1", "bindings", True),
    "Node": ("/api/v1", "nodes", False),
    "Namespace": ("/api/v1", "namespaces", False),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True),
    "Event": ("/apis/events.k8s.io/v1", "events", True),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
    "ResourceQuota": ("/api/v1", "resourcequotas", True),
    "Deployment": ("/apis/apps/v1", "deployments", True),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles", True),
    "CustomResourceDefinition": ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", False),
}


def path(kind, namespace=None, name=None, sub=None):
    prefix, plural, namespaced = KINDS[kind]
    parts = [prefix]
    if namespaced and namespace:
        parts += ["namespaces", namespace]
    parts.append(plural)
    if name:
        parts.append(urllib.parse.quote(name, safe=""))
    if sub:
        parts.append(sub)
    return "/".join(parts)


class Api:
    """One user's view of one API server. May be used from several threads."""

    def __init__(self, kubeconfig):
        self.client = kubernetes.config.new_client_from_config(config_file=str(kubeconfig))

    def raw(self, method, url, body=None, query=None, content_type="application/json", timeout=PATIENCE):
        """The open response; raises ApiException on anything but 2xx."""
        return self.client.call_api(
            url, method, query_params=list((query or {}).items()), body=body,
            header_params={"Content-Type": content_type, "Accept": "application/json"},
            auth_settings=["BearerToken"], response_type=None, _return_http_data_only=True,
            _preload_content=False, _request_timeout=timeout)

    def call(self, method, url, body=None, **more):
        response = self.raw(method, url, body, **more)
        try:
            return json.loads(response.data)
        finally:
            response.release_conn()

    def get(self, kind, namespace, name):
        """The object, or None where there is none."""
        try:
            return self.call("GET", path(kind, namespace, name))
        except ApiException as error:
            if error.status == 404:
                return None
            raise

    def list(self, kind, namespace=None, labels=None, fields=None):
        query = {}
        if labels:
            query["labelSelector"] = labels
        if fields:
            query["fieldSelector"] = fields
        return self.call("GET", path(kind, namespace), query=query)["items"]

    def history(self, kind, namespace, since):
        """The versions of a kind's objects after resourceVersion `since`, in order; the API server keeps
        those of the last minutes. A deleted object's last version is in it."""
        response = self.raw("GET", path(kind, namespace), query={
            "watch": "1", "resourceVersion": str(since), "timeoutSeconds": "3"})
        try:
            events = [json.loads(line) for line in response.data.splitlines() if line.strip()]
        finally:
            response.release_conn()
        return [event["object"] for event in events if event["type"] in ("ADDED", "MODIFIED", "DELETED")]

    def create(self, kind, namespace, body):
        return self.call("POST", path(kind, namespace), body)

    def patch(self, kind, namespace, name, change, sub=None):
        """A merge patch; null takes a key away."""
        return self.call("PATCH", path(kind, namespace, name, sub), change,
                         content_type="application/merge-patch+json")

    def take_finalizers(self, kind, namespace, name):
        """Lets an object go at once, whatever waits for it; one that is gone is fine."""
        try:
            self.patch(kind, namespace, name, {"metadata": {"finalizers": None}})
        except ApiException as error:
            if error.status != 404:
                raise

    def delete(self, kind, namespace, name, grace=None):
        """Asks for deletion; an object that is not there is fine."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            return self.call("DELETE", path(kind, namespace, name), body)
        except ApiException as error:
            if error.status == 404:
                return None
            raise

    def delete_all(self, kind, namespace, labels=None):
        query = {"labelSelector": labels} if labels else {}
        return self.call("DELETE", path(kind, namespace), query=query)

    def version(self):
        """The resourceVersion that the API server is at now."""
        return int(self.call("GET", path("Node"), query={"limit": "1"})["metadata"]["resourceVersion"])
