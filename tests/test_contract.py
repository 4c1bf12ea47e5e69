"""The names, signatures and docstrings that the book promises, chapter by chapter."""

import inspect

import pytest

import apisurface

# module: {name: parameters as they are called, in order; None for a constant or a type}
CONTRACT = {
    "transport": {
        "HttpTransport": "*, api_key=None, headers=None, timeout=30.0, deadline=None, "
        "client=None, trust_env=True",
        "error_object": "body, status=200",
        "provider_error": "body, status=200, retry_after=None",
    },
    "wire": {
        "chat": "base_url, model, messages, *, transport=None, tools=None, response_format=None, "
        "temperature=0.0, top_p=1.0, max_tokens=256, tool_choice=None, parallel_tool_calls=False, "
        "extra_body=None",
        "HttpTransport": None,
        "ScriptedModel": "turns, *, prompt_tokens=40",
        "BoundaryError": None,
        "ConfigError": None,
        "ProviderError": None,
        "MalformedResponse": None,
        "DeadlineExceeded": None,
        "Message": None,
        "Transport": None,
    },
    "templates": {
        "render_chat_template": "messages, template",
        "count_tokens": "text",
    },
    "sampling": {
        "softmax": "logits, temperature=1.0",
        "nucleus": "probs, top_p",
        "apply_stop": "text, stops",
    },
    "masks": {
        "constrained_renormalize": "probs, legal",
        "constraint_tax": "probs, legal",
    },
    "levels": {
        "schema_response_format": "name, schema",
        "REFUND_SCHEMA": None,
    },
    "validator": {
        "UnsupportedSchema": None,
        "validate": "instance, schema, path='$'",
        "compile_validator": "schema, *, formats=None",
    },
    "ecma": {
        "parse_pattern": "pattern",
        "UnsupportedPattern": None,
    },
    "patterns": {
        "compile_pattern": "pattern",
    },
    "objects": {
        "parse_object": "text",
    },
    "extraction": {
        "parse_object": None,
        "extract": "invoke, messages, schema, *, max_attempts=3, semantic_check=None, "
        "name='refund_decision'",
        "StructuredOutputFailed": None,
        "Extraction": None,
    },
    "validity": {
        "KNOWN_ORDERS": None,
        "semantic_check": "value",
        "make_tickets": "count=50",
        "scripted_candidate": "ticket, level",
        "run_validity_experiment": "count=50",
    },
    "tools": {
        "LOOKUP_TOOL": None,
        "decode_arguments": "raw",
        "encode_result": "value",
        "run_tool_turn": "invoke, messages, tool, handler, *, authorize=None",
        "assert_all_calls_answered": "calls, results",
        "mend_history": "messages",
    },
    "calls": {
        "Tool": "name, description, parameters, func",
        "ToolRegistry": "tools=()",
        "ToolCall": "name, arguments, id=None, idempotency_key=None",
        "parse_tool_call": "raw",
        "parse_tool_calls": "raw",
    },
    "running": {
        "ToolResult": "ok, value=None, error=None, errors=<factory>, call_id=None, in_doubt=False",
    },
    "dispatch": {
        "dispatch": "registry, call, *, authorize=None, deadline=None, store=None",
        "dispatch_all": "registry, calls, *, authorize=None, deadline=None, store=None",
        "run_with_repair": "fixer_policy, registry, call, max_repairs=2, *, authorize=None, "
        "deadline=None, store=None, attempts=None",
        "coerce_output": "text, schema",
        "Tool": None,
        "ToolRegistry": None,
        "ToolCall": None,
        "ToolResult": None,
        "parse_tool_call": None,
        "parse_tool_calls": None,
        "MemoryStore": None,
        "SQLiteStore": None,
        "InvalidOutput": None,
    },
    "sse": {
        "iter_sse": "chunks",
        "SSEvent": None,
    },
    "streaming": {
        "assemble_tool_stream": "chunks",
        "assemble_chat_stream": "chunks, *, provider='openai-chat', all_choices=False",
        "actionable_calls": "response",
        "stream_chat": "base_url, model, messages, *, transport=None, tools=None, "
        "response_format=None, temperature=0.0, top_p=1.0, max_tokens=256, tool_choice=None, "
        "parallel_tool_calls=False, extra_body=None",
        "IncompleteToolStream": None,
        "iter_sse": None,
        "SSEvent": None,
    },
    "errors": {
        "classify_failure": "*, status=None, finish_reason=None, error=None",
        "diagnose": "*, status=None, headers=None, body=None, finish_reason=None, error=None",
        "Failure": None,
    },
}
NAMES = [(module, name) for module, names in CONTRACT.items() for name in names]


def called(value):
    """Return the parameters of a callable as a reader would write them, without types."""
    parameters = inspect.signature(value).parameters.values()
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return str(inspect.Signature(bare))[1:-1]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_promised_name_is_there_from_the_package_and_from_its_module(module, name):
    owner = __import__(f"apisurface.{module}", fromlist=[name])
    value = getattr(owner, name)
    assert getattr(apisurface, name) is value
    assert name in apisurface.__all__
    promised = CONTRACT[module][name]
    if promised is not None:
        assert called(value) == promised
        assert value.__module__ == f"apisurface.{module}"


PUBLIC = [name for name in apisurface.__all__ if callable(getattr(apisurface, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_in_one_sentence_what_it_is(name):
    value = getattr(apisurface, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return  # an alias of a type: it has no docstring of its own
    first = (inspect.getdoc(value) or "").split("\n\n")[0]
    assert first.endswith("."), f"{name}: the docstring's first paragraph is one sentence"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_names_the_errors_it_raises(name):
    value = getattr(apisurface, name)
    if inspect.isfunction(value) and "raise " in inspect.getsource(value):
        doc = (inspect.getdoc(value) or "").lower()
        assert "raise" in doc or "refused with" in doc, f"{name}: say what it raises"


TREE = {
    "BoundaryError": (Exception,),
    "ConfigError": (apisurface.BoundaryError, ValueError),
    "ProviderError": (apisurface.BoundaryError,),
    "UnsupportedPattern": (apisurface.BoundaryError, ValueError),
    "MalformedResponse": (apisurface.BoundaryError, ValueError),
    "DeadlineExceeded": (apisurface.BoundaryError, TimeoutError),
    "MalformedStream": (apisurface.BoundaryError, ValueError),
    "IncompleteToolStream": (apisurface.BoundaryError, RuntimeError),
    "NotActionable": (apisurface.BoundaryError, ValueError),
    "StructuredOutputFailed": (apisurface.BoundaryError, RuntimeError),
    "ToolCallError": (apisurface.BoundaryError, ValueError),
    "MalformedArguments": (apisurface.ToolCallError,),
    "ProposalRefused": (apisurface.ToolCallError,),
    "AnswerMissing": (apisurface.ToolCallError,),
    "CallsNotAnswered": (apisurface.ToolCallError,),
    "MalformedCall": (apisurface.ToolCallError,),
    "InvalidOutput": (apisurface.BoundaryError, ValueError),
    "UnsupportedSchema": (apisurface.BoundaryError, ValueError),
}


@pytest.mark.parametrize("name", TREE)
def test_an_error_hangs_in_the_tree_and_keeps_its_builtin(name):
    assert getattr(apisurface, name).__bases__ == TREE[name]
