"""One real model server for the session; without the extra a reasoned skip, in CI a failure."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from apisurface.transport import HttpTransport
from tools.model_server import MissingExtra, ModelServer, model_server
from tools.record import TOOL_TEMPLATE


def leave_out(error: MissingExtra) -> None:
    """End the tests of this session that need the model, saying why."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not leave the real model out. {error}", pytrace=False)
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def server() -> Iterator[ModelServer]:
    """The server with the model's own chat template."""
    try:
        with model_server() as running:
            yield running
    except MissingExtra as error:
        leave_out(error)


@pytest.fixture(scope="session")
def tool_server() -> Iterator[ModelServer]:
    """The server with the chat template that shows tools."""
    try:
        with model_server(chat_template=TOOL_TEMPLATE) as running:
            yield running
    except MissingExtra as error:
        leave_out(error)


@pytest.fixture
def transport(server: ModelServer) -> Iterator[HttpTransport]:
    """The default transport, with the server's key and patience for a busy machine."""
    with HttpTransport(api_key=server.api_key, timeout=120, trust_env=False) as made:
        yield made
