"""A client of /api/v1 that believes no answer: each is checked against the OpenAPI document that the server
itself serves, and no answer has a member that the document does not name.
"""
import copy
import re

import jsonschema
import requests

from patience import PATIENCE

PROBLEM = "application/problem+json"


def closed(schemas):
    """The schemas without room for members that they do not name."""
    found = copy.deepcopy(schemas)
    for each in found.values():
        if "properties" in each:
            each.setdefault("additionalProperties", False)
    return found


class Document:
    def __init__(self, document):
        self.document = document
        self.components = dict(document["components"], schemas=closed(document["components"]["schemas"]))
        self.paths = [(re.compile("^" + re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)) + "$"), path)
                      for path in sorted(document["paths"], key=lambda path: (path.count("{"), -len(path)))]
        #: (operationId, status): what was answered at least once.
        self.seen = set()

    def operation(self, method, path):
        """The operation of a request, or None."""
        for pattern, template in self.paths:
            operation = self.document["paths"][template].get(method.lower())
            # The verb behind a name is a part of the path's last segment.
            if operation and pattern.match(path) and (":" in template) == (":" in path.rsplit("/", 1)[-1]):
                return operation
        return None

    def check(self, method, path, response):
        operation = self.operation(method, path)
        assert operation, f"{method} {path} is not in the document"
        status = str(response.status_code)
        where = f"{operation['operationId']} {status} {response.text[:500]}"
        answer = operation["responses"].get(status)
        assert answer, f"{where}: the document does not know this answer"
        self.seen.add((operation["operationId"], response.status_code))
        if "$ref" in answer:
            answer = self.document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
        contents = answer.get("content", {})
        if not contents:
            assert not response.content, where
            return
        kind = response.headers["Content-Type"].split(";")[0]
        assert kind in contents, f"{where}: {kind}"
        schema = dict(contents[kind]["schema"], components=self.components)
        validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
        faults = [f"{each.json_path}: {each.message[:200]}" for each in validator.iter_errors(response.json())]
        assert not faults, f"{where}: {faults}"


class Interface:
    """One replica as one caller sees it."""

    def __init__(self, url, document=None, token=None):
        self.url, self.token = url, token
        self.session = requests.Session()
        self.document = document or Document(self.session.get(url + "/openapi.json", timeout=PATIENCE).json())

    def __call__(self, method, path, body=None, text=None, **headers):
        """`path` begins below /api/v1; headers are named with _ for -."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers.setdefault("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json")
        response = self.session.request(method, f"{self.url}/api/v1{path}", json=body, data=text, headers=headers,
                                        timeout=PATIENCE)
        self.document.check(method, "/api/v1" + path.split("?")[0], response)
        return response

    def get(self, path, expect=200, **headers):
        response = self("GET", path, **headers)
        assert response.status_code == expect, response.text
        return response.json() if response.content else None
