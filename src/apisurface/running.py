# Generated from book/running.ipynb: edit it there, then run `make save`.
"""Run one function for one call that has been checked: what comes out is a `ToolResult`.

`run_tool` answers whatever the function does: return, raise, hang, or return what JSON cannot
hold. The answer is true about whether something happened.

Not here: whether the function may run at all (`dispatch`).
"""

from __future__ import annotations

import contextvars
import copy
import inspect
import json
import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

from apisurface.calls import Tool
from apisurface.tools import encode_result


# cell: tool-result
@dataclass(frozen=True)
class ToolResult:
    """What became of one call, in words that a model can act on.

    `ok` with a JSON `value`, or an `error` and all `errors` (never empty then), each line fit
    to be sent back. `call_id` is the id that the answer must carry. `in_doubt` says that the
    effect may or may not have happened: neither repeat nor assume.
    """

    ok: bool
    value: Any = None
    error: str | None = None
    errors: list[str] = field(default_factory=list)
    call_id: str | None = None
    in_doubt: bool = False

    @classmethod
    def failure(
        cls, error: str, errors: list[str] | None = None, *, in_doubt: bool = False
    ) -> ToolResult:
        """Return a failure; without a list of errors its only error is the sentence."""
        return cls(False, error=error, errors=errors or [error], in_doubt=in_doubt)

    def to_message(self) -> dict[str, Any]:
        """Return the tool turn for a chat completion; raises ValueError without a call id."""
        if not self.call_id:
            raise ValueError("a call without an id cannot be answered")
        told = {"error": self.error, "errors": self.errors, "in_doubt": self.in_doubt}
        content = encode_result(self.value if self.ok else told)
        return {"role": "tool", "tool_call_id": self.call_id, "content": content}


# cell: secret
_SECRET = re.compile(
    r"(?P<keep>\b(?:bearer|basic)\s+|(?:key|token|secret|passw(?:or)?d|pwd|signature)[\"']?"
    r"\s*[:=]\s*[\"']?)[^\s,;&\"']{4,}"  # named
    r"|(?<=://)[^\s/@]+(?=@)"  # the user and password of an address
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[a-z]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{12,}",
    re.IGNORECASE,
)


# cell: reason
def _reason(error: BaseException) -> str:
    """Say what an exception says: its type, one line of text, nothing that looks secret."""
    name = type(error).__name__
    try:
        text = " ".join(str(error)[:4000].split())  # what is cut off is never shown
    except Exception:  # an exception that cannot say what it is
        text = ""
    text = _SECRET.sub(r"\g<keep>***", text).encode("utf-8", "backslashreplace").decode()
    return f"{name}: {text[:300]}{'…' if len(text) > 300 else ''}" if text else name


# cell: execute
def _execute(tool: Tool, arguments: dict[str, Any]) -> ToolResult:
    """Run the function; what it returns or raises becomes a result."""
    try:
        value = tool.func(**arguments)
    except (Exception, SystemExit) as error:
        logging.getLogger("apisurface").info("tool %s failed", tool.name, exc_info=error)
        return ToolResult.failure(f"{tool.name} failed: {_reason(error)}")
    if inspect.iscoroutine(value):
        value.close()
        return ToolResult.failure(
            f"{tool.name} did not run: it returned a coroutine nobody waits for"
        )
    try:
        encode_result(value)
        return ToolResult(True, json.loads(json.dumps(value)))
    except ValueError as error:
        return ToolResult.failure(f"{tool.name} ran and must not be repeated; {error}")


# cell: in-thread
def in_thread(work: Callable[[], ToolResult]) -> Future[ToolResult]:
    """Run something in a thread of its own, a daemon, in the caller's context."""
    future: Future[ToolResult] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    return future


# cell: run-tool
def run_tool(
    tool: Tool,
    arguments: dict[str, Any],
    *,
    deadline: float | None = None,
    keep: Callable[[ToolResult | None], None] | None = None,
) -> ToolResult:
    """Call a tool's function with arguments that were checked, and say what came of it.

    Without `deadline` (seconds) in this thread, otherwise in one of its own, which goes on when
    the deadline has passed: the result is `in_doubt` then. `keep` gets the result when the
    function has ended, also after the deadline, or None when an exception passes. When `keep`
    fails, the result is in doubt, too. Raises nothing but what is no `Exception` and not
    SystemExit.
    """

    def work() -> ToolResult:
        try:
            result = _execute(tool, copy.deepcopy(arguments))
        except BaseException:
            if keep is not None:
                keep(None)
            raise
        try:
            if keep is not None:
                keep(result)
        except Exception as error:
            why = f"{tool.name} ran, but that was not written down ({type(error).__name__})"
            return ToolResult.failure(f"{why}: do not repeat it", in_doubt=True)
        return result

    if deadline is None:
        return work()
    if not deadline > 0:
        return ToolResult.failure(f"{tool.name} did not run: no time was left")
    future = in_thread(work)
    wait([future], min(deadline, threading.TIMEOUT_MAX))
    if future.done():
        return future.result()
    why = (
        f"{tool.name} gave no answer within {deadline:g} s, cannot be stopped and may still act"
    )
    return ToolResult.failure(f"{why}: do not repeat it", in_doubt=True)
