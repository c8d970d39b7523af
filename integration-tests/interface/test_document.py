"""The document is valid, and is the one that the program serves."""
import json

import jsonschema
import openapi_spec_validator
import pytest
import requests

from conftest import ROOT
from patience import PATIENCE

KEPT = ROOT / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def document():
    return json.loads(KEPT.read_text("utf-8"))


def test_a_public_validator_finds_nothing(document):
    assert document["openapi"].startswith("3.1.")
    faults = list(openapi_spec_validator.OpenAPIV31SpecValidator(document).iter_errors())
    assert not faults, faults


def test_each_schema_is_one_of_json_schema(document):
    for name, schema in document["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema.get("description"), name


def test_each_operation_says_what_it_does_answers_and_needs(document):
    ids = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            ids.append(operation["operationId"])
            assert operation["summary"].endswith("."), where
            assert operation["x-required-rights"], where
            assert any(status.startswith("2") for status in operation["responses"]), where
            for status in ("400", "401", "403", "429", "503"):
                assert status in operation["responses"], where
    assert len(ids) == len(set(ids)) >= 28


def test_it_is_served_to_everybody(replica, document):
    answer = requests.get(replica.url + "/openapi.json", timeout=PATIENCE)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == document
