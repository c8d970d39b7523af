"""What is used is what the document gives; and all of it has types."""
import filecmp
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

import generate  # noqa: E402


def files(folder: pathlib.Path) -> set[str]:
    return {each.relative_to(folder).as_posix() for each in folder.rglob("*")
            if each.is_file() and "__pycache__" not in each.parts}


def test_the_package_that_is_used_is_what_the_document_gives(tmp_path: pathlib.Path) -> None:
    import esi_client.generated
    used = pathlib.Path(str(esi_client.generated.__file__)).parent
    generate.generate(tmp_path / "anew")
    assert files(used) == files(tmp_path / "anew")
    assert len(files(used)) > 50
    _, different, unreadable = filecmp.cmpfiles(used, tmp_path / "anew", sorted(files(used)), shallow=False)
    assert (different, unreadable) == ([], [])


def test_each_operation_of_the_document_but_the_streams_is_a_function() -> None:
    import importlib
    import re
    document = json.loads((HERE / "openapi.json").read_text())
    missing = []
    for methods in document["paths"].values():
        for operation in methods.values():
            if operation["tags"] == ["events"]:
                continue
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower()
            module = importlib.import_module(f"esi_client.generated.api.{operation['tags'][0]}.{name}")
            if not callable(getattr(module, "sync_detailed", None)):
                missing.append(name)
    assert missing == []


def test_all_of_it_passes_strict_mypy() -> None:
    told = subprocess.run([sys.executable, "-m", "mypy"], cwd=HERE, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert told.returncode == 0, told.stdout
