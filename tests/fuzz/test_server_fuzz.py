"""A served writer under random requests, made from its own OpenAPI document.

Schemathesis is imported where it is needed: each worker of each run would import it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from conftest import wait_until
from hypothesis import HealthCheck, given, settings
from model_double import running_model
from model_writer import writing
from writer_server import WriterServer, configure, writer_running

from mkdocs_contentgen.served.users import NAME
from mkdocs_contentgen.service.application import OPERATIONS

if TYPE_CHECKING:
    from schemathesis import Case

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriterServer]:
    """Serve a writer for all requests of this module."""
    directory = tmp_path_factory.mktemp("writer")
    with running_model() as model:
        model.answer = writing()
        limits = {"requests_per_minute": 1_000_000, "parallel": 1000}
        configure(directory, model.endpoint, limits=limits)
        with writer_running(directory) as running:
            yield running


@pytest.mark.parametrize("path", OPERATIONS)
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_requests(server: WriterServer, path: str, mode: str) -> None:
    """Valid and invalid requests get what the document says, and none finds a fault of the server.

    A text in another script than the random topic is no fault: it fails its checks.
    """
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    document = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operation = document[path]["POST"]

    @settings(max_examples=12, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    def send(case: Case[Any]) -> None:
        if NAME.fullmatch(str((case.query or {}).get("user_id", ""))):
            case.query["user_id"] = "alice"
        response = case.call(headers={"Authorization": f"Bearer {server.token}"}, timeout=60)
        if response.status_code == 500:
            assert response.json()["error"].startswith("the text cannot be used")
        excluded = [not_a_server_error, checks.ignored_auth]
        if response.status_code == 422 and "Idempotency-Key" in response.text:
            excluded.append(checks.positive_data_acceptance)  # another request had the same one
        if set(case.query or {}) - {"user_id"}:
            excluded.append(checks.negative_data_rejection)  # other query parameters do no harm
        case.validate_response(response, excluded_checks=excluded)

    send()


def test_log(server: WriterServer) -> None:
    """After all of them, the log is still one record a line, and no fault is on stderr."""
    before = len(server.lines)
    assert server.ask().status_code == 200
    wait_until(lambda: len(server.lines) > before)
    assert all(record["operation"] for record in server.log)
    assert "Traceback" not in "".join(server.errors)
