import pathlib
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # for `import fake`

from fake import Fake  # noqa: E402


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    for name in ("ESI_TOKEN", "ESI_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with Fake().running() as found:
        yield found
