"""Made-up texts and objects, as models write them and as they should not."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            '"',
            ":",
            ",",
            "\\",
            "1",
            "-",
            " ",
            "\n",
            "\r\n",
            "a",
            "\ufeff",
            "é",
        ]
        + [
            "```",
            "```json\n",
            "```json ",
            "\n```\n",
            "````\n",
            "~~~\n",
            "```bash\n",
            "~~~ JSONC\n",
        ]
        + ["<think>", "</think>", "[THINK]", "[/THINK]", "<Reasoning>", "</reasoning>"]
        + [
            '{"a": 1}',
            '{"b": {"c": []}}',
            "[1]",
            '"k": ',
            "NaN",
            "null",
            "{}",
            '"\\ud83d"',
            "\udc80",
        ]
    ),
    max_size=25,
).map("".join)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OBJECTS = st.dictionaries(
    KEYS,
    st.none()
    | st.booleans()
    | st.integers()
    | KEYS
    | st.lists(st.integers() | KEYS, max_size=3),
    max_size=4,
)
