# Generated from the chapters in book/: edit it there, then run `make save`.
"""The boundary between an application and a language model."""

from apisurface.exchange import (
    broken_proxy_variable,
    encode_body,
    post,
    proxy_variable,
    quiet_urls,
    redact_url,
    retry_after,
    secrets_in,
    within,
)
from apisurface.exercises import Exercise, Mistake, Raises, Verdict, check
from apisurface.wire import (
    BoundaryError,
    ConfigError,
    DeadlineExceeded,
    HttpTransport,
    MalformedResponse,
    Message,
    ProviderError,
    ScriptedModel,
    Transport,
    chat,
)

__all__ = [
    "BoundaryError",
    "ConfigError",
    "DeadlineExceeded",
    "Exercise",
    "HttpTransport",
    "MalformedResponse",
    "Message",
    "Mistake",
    "ProviderError",
    "Raises",
    "ScriptedModel",
    "Transport",
    "Verdict",
    "broken_proxy_variable",
    "chat",
    "check",
    "encode_body",
    "post",
    "proxy_variable",
    "quiet_urls",
    "redact_url",
    "retry_after",
    "secrets_in",
    "within",
]
__version__ = "0.1.0"
