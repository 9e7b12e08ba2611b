"""Generates lead_scoring.rest, a typed call for each route, from the OpenAPI document of a running gateway, or from a file.

    pip install -r generate-requirements.txt
    python generate.py http://127.0.0.1:8080/openapi.json
"""

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE / "src/lead_scoring/rest"
# The generator writes calls that fail when a body has several content types, and sends no UUID in a header.
JSON = "application/json"


def read(source):
    """The document at an address, or in a file."""
    if source.startswith(("http://", "https://")):
        with urllib.request.urlopen(source) as answer:
            return json.load(answer)
    return json.loads(Path(source).read_text())


def one_form(content):
    """The JSON form of a body; of a body that has none, the first form, as bytes."""
    if JSON in content:
        return {JSON: content[JSON]}
    kind = next(iter(content))
    return {kind: {"schema": {"type": "string", "format": "binary"}}}


def simplified(document):
    """The document as the generator can take it: its calls are the same."""
    for methods in document["paths"].values():
        for operation in methods.values():
            if body := operation.get("requestBody"):
                body["content"] = one_form(body["content"])
    for parameter in document["components"]["parameters"].values():
        parameter["schema"].pop("format", None)
    return document


def main(source):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openapi.json"
        path.write_text(json.dumps(simplified(read(source))))
        config = HERE / "generator.yaml"
        command = ["generate", "--path", path, "--config", config, "--meta", "none", "--output-path", TARGET, "--overwrite"]
        # What the generator leaves out is a warning: here it is an error.
        done = subprocess.run([sys.executable, "-m", "openapi_python_client", *command, "--fail-on-warning"])
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
