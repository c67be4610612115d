"""Artifacts and what is in them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from twinjit.artifact import Artifact
from twinjit.key import Key

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
values = texts | st.binary(max_size=20)

part_tables = st.lists(st.tuples(names, values), max_size=6, unique_by=lambda part: part[0]).map(
    tuple
)
keys = part_tables.map(Key)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)

digests = st.binary(min_size=32, max_size=32)

targets = st.fixed_dictionaries(
    {
        "triple": texts,
        "cpu": texts,
        "features": texts,
        "toolchain": st.dictionaries(texts, texts, max_size=2),
    }
)

# Some are long enough to be compressed, and some of those shrink.
contents = st.binary(max_size=100) | st.builds(
    lambda piece, times: piece * times, st.binary(min_size=1, max_size=40), st.integers(1, 2000)
)

artifacts = st.builds(
    Artifact.build,
    key=keys,
    object_code=contents,
    signatures=st.lists(json_objects, max_size=3),
    report=json_objects,
    target=targets,
    extras=st.dictionaries(names.map("x-{}".format), contents, max_size=3),
)
