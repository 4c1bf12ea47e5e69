"""What a real model holds likely next: its whole vocabulary, cut to what a page needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from apisurface.transport import HttpTransport
from tools.exchanges import QUESTION, TICKET
from tools.model_server import ModelServer
from tools.tape import Bytes, pack

KEPT = 50  # tokens kept of each distribution; the others are summed as its tail
THRESHOLDS = (0.5, 0.7, 0.9, 0.95, 0.99)
END = 2  # SmolLM2's <|im_end|>, which the server spells as no text at all


@dataclass(frozen=True)
class Token:
    """One entry of the vocabulary, and how likely it comes next."""

    id: int
    data: bytes
    p: float

    def row(self) -> list[int | float | Bytes]:
        """Return what is written: id, text, probability with six significant digits."""
        text = "<|im_end|>" if self.id == END and not self.data else pack(self.data)
        return [self.id, text, rounded(self.p)]


def rounded(p: float) -> float:
    """Return a number with six significant digits: two builds agree on no more."""
    return float(f"{p:.6g}")


class NextToken:
    """Asks a server for the distribution of the next token over the whole vocabulary."""

    def __init__(self, server: ModelServer) -> None:
        self._url = server.base_url
        self._send = HttpTransport(api_key=server.api_key, timeout=120, trust_env=False)

    def close(self) -> None:
        """Close the connection."""
        self._send.close()

    def render(self, messages: list[dict[str, Any]]) -> str:
        """Return the prompt that the server makes of a conversation."""
        reply = self._send(f"{self._url}/apply-template", {"messages": messages})
        prompt: str = reply["prompt"]
        return prompt

    def after(self, prompt: str, ids: list[int]) -> tuple[list[Token], float]:
        """Return every token, likeliest first, after a prompt and the tokens so far.

        The second value is the mass that the server reported before it was divided by itself:
        in 32-bit floats the probabilities of a whole vocabulary need not sum to 1.
        """
        body = {
            "prompt": [prompt, *ids],
            "max_tokens": 1,
            "logprobs": 100_000,  # more than there are: all
            "temperature": 0,
            "cache_prompt": True,
        }
        reply = self._send(f"{self._url}/v1/completions", body)
        [found] = reply["choices"][0]["logprobs"]["content"]
        entries = found["top_logprobs"]
        mass = math.fsum(math.exp(entry["logprob"]) for entry in entries)
        tokens = [
            Token(entry["id"], bytes(entry["bytes"]), math.exp(entry["logprob"]) / mass)
            for entry in entries
        ]
        return tokens, mass


def summary(tokens: list[Token], reported: float) -> dict[str, Any]:
    """Return the likeliest tokens, the mass of the others, and what needs all of them.

    `nucleus` counts the tokens that a `top_p` of each threshold keeps, `entropy_bits` is
    -Σ p·log2 p, `reported_mass` what the server's own numbers sum to.
    """
    nucleus, mass = dict.fromkeys(map(str, THRESHOLDS), 0), 0.0
    for token in tokens:
        for threshold in THRESHOLDS:
            nucleus[str(threshold)] += mass < threshold
        mass += token.p
    return {
        "top": [token.row() for token in tokens[:KEPT]],
        "tail": rounded(math.fsum(token.p for token in tokens[KEPT:])),
        "reported_mass": rounded(reported),
        "vocabulary": len(tokens),
        "nucleus": nucleus,
        "entropy_bits": rounded(-math.fsum(t.p * math.log2(t.p) for t in tokens if t.p > 0)),
    }


def distributions(server: ModelServer) -> dict[str, Any]:
    """Return the distributions along a few greedy continuations."""
    asked = NextToken(server)
    prompts: list[tuple[str, str, int]] = [
        ("answer", asked.render(QUESTION), 4),
        ("ticket", asked.render(TICKET), 3),
        ("story", "Once upon a time, there was a", 2),
        ("capital", "The capital of France is", 2),
    ]
    done = []
    for name, prompt, length in prompts:
        ids: list[int] = []
        text, steps = b"", []
        for _ in range(length):
            tokens, reported = asked.after(prompt, ids)
            steps.append({"so_far": pack(text)} | summary(tokens, reported))
            ids.append(tokens[0].id)
            text += tokens[0].data
        done.append({"name": name, "prompt": prompt, "steps": steps})
    asked.close()
    about = "Next-token probabilities over the whole vocabulary, along greedy continuations."
    return {"about": about, "row": ["id", "text", "p"], "prompts": done}
