import pathlib

import pytest

from esi_client import BatchJob, Scheduling, Testbed, connect, get
from fake import Answer, Fake, Request, scheduling


def ask(server: Fake, **options: str) -> dict[str, str]:
    server.answer = lambda request: Answer(body=scheduling())
    get(connect(server.url, **options), Scheduling, "default", "queue")  # type: ignore[arg-type]
    return server.asked[-1].headers


def test_a_token_is_sent_as_a_bearer(server: Fake) -> None:
    assert ask(server, token="abc\n")["authorization"] == "Bearer abc"


def test_without_a_token_it_asks_as_nobody(server: Fake) -> None:
    assert "authorization" not in ask(server)


def test_a_token_file_is_read_anew_for_each_request(server: Fake, tmp_path: pathlib.Path) -> None:
    server.answer = lambda request: Answer(body=scheduling())
    path = tmp_path / "token"
    path.write_text("first\n")
    esi = connect(server.url, token_file=str(path))
    get(esi, Scheduling, "default", "queue")
    path.write_text("second\n")
    get(esi, Scheduling, "default", "queue")
    assert [each.headers["authorization"] for each in server.asked] == ["Bearer first", "Bearer second"]


def test_the_environment_names_a_token_file_or_the_token(server: Fake, tmp_path: pathlib.Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESI_TOKEN", "plain")
    assert ask(server)["authorization"] == "Bearer plain"
    (tmp_path / "token").write_text("of the file")
    monkeypatch.setenv("ESI_TOKEN_FILE", str(tmp_path / "token"))
    assert ask(server)["authorization"] == "Bearer of the file"
    assert ask(server, token="given")["authorization"] == "Bearer given"


@pytest.mark.parametrize("kind, path", [(Testbed, "testbeds"), (BatchJob, "jobs"), (Scheduling, "schedulings")])
def test_names_are_escaped_in_the_path(server: Fake, kind: type[Scheduling], path: str) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Answer:
        seen.append(request.path)
        return Answer(404, {"code": "NotFound", "detail": "no"})
    server.answer = answer
    with pytest.raises(Exception, match="404 NotFound"):
        get(connect(server.url), kind, "default", "a/b?c")
    assert seen == [f"/api/v1/namespaces/default/{path}/a%2Fb%3Fc"]
