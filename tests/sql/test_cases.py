"""The cases of ``cases.json``: expressions over one row, and what PostgreSQL 15 gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import twinjit
from tests.sql.schemas import TYPES
from twinjit.errors import SqlError
from twinjit.sql import compile_expression

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
COMPILER = twinjit.Compiler(cache=False)
ONE_ROW = pa.record_batch({"x": pa.array([0])})
NAMES = {
    "integer": pa.int32(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "timestamp without time zone": pa.timestamp("us"),
}


def evaluated(expression: str, batch: Any, jit: Any) -> Any:
    return compile_expression(expression, batch.schema, jit=jit, compiler=COMPILER)(batch)


@pytest.mark.parametrize("jit", ["off", "force"])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], jit: Any) -> None:
    columns = {
        name: evaluated(f"({column['literal']})::{column['type']}", ONE_ROW, jit).cast(
            TYPES[column["type"]]
        )
        for name, column in case["columns"].items()
    }
    batch, expected = pa.record_batch(columns), case["expect"]
    if "sqlstate" in expected:
        with pytest.raises(SqlError) as raised:
            evaluated(case["expression"], batch, jit)
        assert (raised.value.sqlstate, str(raised.value)) == (
            expected["sqlstate"],
            expected["message"],
        )
        return
    found = evaluated(case["expression"], batch, jit)
    value = found[0].as_py()
    if expected["type"] == "numeric":
        assert pa.types.is_decimal128(found.type)
        assert str(value) == expected["value"]
    else:
        assert found.type == NAMES[expected["type"]]
        assert (str(value) if pa.types.is_timestamp(found.type) else value) == expected["value"]
