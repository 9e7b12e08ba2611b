# Generators for the string formats of our own that Schemathesis cannot derive from the OpenAPI document.
import json
import os

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation

known = json.loads(os.environ["KNOWN"])

line = st.fixed_dictionaries(
    {
        "alias_kind": st.sampled_from(["email", "cookie", "no kind"]),
        "alias": st.sampled_from(["ada@example.com", "grace@example.com", ""]),
        "event_type": st.text(min_size=1, max_size=20),
    },
    optional={"metadata": st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)},
)

schemathesis.openapi.format("position", st.just(known["position"]))
schemathesis.openapi.format("cursor", st.just(known["cursor"]))
schemathesis.openapi.format("idempotency-key", st.uuids().map(str))
schemathesis.openapi.format("timezone", st.sampled_from(["UTC", "Europe/Berlin", "America/Los_Angeles", "Australia/Lord_Howe"]))
# Another one names a version that the configuration no longer has.
schemathesis.openapi.format("entity-tag", st.just("*"))
schemathesis.openapi.format(
    "events-ndjson", st.lists(line, min_size=1, max_size=5).map(lambda events: "\n".join(map(json.dumps, events)))
)
schemathesis.openapi.format(
    "events-csv",
    st.lists(st.sampled_from(["email,ada@example.com,Page View", "cookie,c1,Form Submit", "email,nobody"]), max_size=5).map(
        lambda lines: "\n".join(["alias_kind,alias,event_type", *lines])
    ),
)


@schemathesis.serializer("application/x-ndjson", "text/csv")
def as_text(ctx, value):
    # A value that is not a string cannot be sent as text; bytes that are not valid UTF-8 come closest.
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b"\xff\xfe"


@schemathesis.hook
def before_call(context, case, kwargs):
    # Random ids are answered 403 and 404 before anything else is read, so a valid header or path names what exists.
    if case.meta and not case.meta.is_negative_at(ParameterLocation.HEADER) and "X-OU-Id" in (case.headers or {}):
        case.headers["X-OU-Id"] = known["ou_id"]
    if case.meta and case.path_parameters and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters.update(known["parameters"][case.operation.definition.raw["operationId"]])
    # With partial=true a 202 lists the wrong events, which a schema cannot express. With partial=false they are refused.
    body = case.meta and case.meta.components.get(ParameterLocation.BODY)
    if body and body.mode.is_negative and (case.query or {}).get("partial") == "true":
        case.query["partial"] = "false"
