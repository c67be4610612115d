"""What counts as the same program; one object drives fingerprint, equivalence and diff."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from twinjit.errors import PolicyError
from twinjit.lazily import lazily

__all__ = ["Policy", "policy_or_default"]

# The words of each setting that takes a word, the default first.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "locations": ("ignore", "keep"),
    "private_symbols": ("keep", "rename"),
    "symbol_order": ("keep", "ignore"),
    "discardable": ("keep", "ignore"),
    "commutative": ("keep", "ignore"),
    "module_name": ("keep", "ignore"),
    "constants": ("content", "lift"),
}


@dataclass(frozen=True)
class Policy:
    """What counts as the same program.

    The default never merges programs whose code may differ; each other setting merges more, and a
    compiler with such a policy brings the programs it merges to one form before it compiles.
    ``docs/identity.md`` defines the relation.

    Attributes
    ----------
    locations
        ``"keep"`` to tell programs apart by source locations, and LLVM IR by its debug info.
    private_symbols
        ``"rename"`` to ignore the names of definitions that cannot be seen from outside.
    symbol_order
        ``"ignore"`` to ignore the order in which a module lists its symbols.
    discardable
        ``"ignore"`` to ignore all discardable attributes, or the names of those to ignore.
    commutative
        ``"ignore"`` to ignore the order of operands of commutative operations.
    module_name
        ``"ignore"`` to ignore the names of modules.
    constants
        ``"lift"`` to take large constants for parameters: their types count, their content not.
    lift_bytes
        Size in bytes from which a constant is large.

    Raises
    ------
    PolicyError
        For a setting that is none of these.
    """

    locations: Literal["ignore", "keep"] = "ignore"
    private_symbols: Literal["keep", "rename"] = "keep"
    symbol_order: Literal["keep", "ignore"] = "keep"
    discardable: Literal["keep", "ignore"] | Collection[str] = "keep"
    commutative: Literal["keep", "ignore"] = "keep"
    module_name: Literal["keep", "ignore"] = "keep"
    constants: Literal["content", "lift"] = "content"
    lift_bytes: int = 1024

    def __post_init__(self) -> None:
        if not isinstance(self.discardable, str):
            object.__setattr__(self, "discardable", _attribute_names(self.discardable))
        for name, words in _WORDS.items():
            value = getattr(self, name)
            if not isinstance(value, frozenset) and value not in words:
                choices = " or ".join(map(repr, words))
                more = ", or a collection of names" if name == "discardable" else ""
                raise PolicyError(f"the policy's {name} is {value!r}; give {choices}{more}")
        if type(self.lift_bytes) is not int or not 1 <= self.lift_bytes < 1 << 63:
            raise PolicyError(
                f"the policy's lift_bytes is {self.lift_bytes!r}; give a number of bytes from 1"
            )

    @lazily
    def text(self) -> str:
        """The policy in canonical form, the same for equal policies.

        A JSON object in ASCII without spaces, of all settings by name in alphabetical order; names
        of attributes are a sorted list, and ``lift_bytes`` is there with ``"lift"`` only. It is
        part of every fingerprint and key: one more setting changes them all.
        """
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        if isinstance(self.discardable, frozenset):
            data["discardable"] = sorted(self.discardable)
        if self.constants == "content":
            del data["lift_bytes"]  # means nothing then
        return json.dumps(data, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Policy:
        """Read a policy from JSON such as `text` gives; settings left out have their defaults.

        Raises
        ------
        PolicyError
            If the text is no JSON object, or has settings that a policy has not.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise PolicyError(f"the policy's text is not JSON: {error}") from error
        if not isinstance(data, dict):
            raise PolicyError(f"the policy's text is {text!r}; give a JSON object")
        return cls.from_settings(data)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Policy:
        """Make a policy of named settings.

        Raises
        ------
        PolicyError
            If one is unknown or its value cannot be used.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(set(settings) - set(known))
        if unknown:
            raise PolicyError(f"a policy has no setting {unknown[0]!r}; it has {', '.join(known)}")
        return cls(**settings)


_DEFAULT = Policy()  # keeps its text


def policy_or_default(policy: object) -> Policy:
    """Return a policy that was handed in, or the default for None.

    Raises
    ------
    PolicyError
        If it is neither.
    """
    if policy is None:
        return _DEFAULT
    if isinstance(policy, Policy):
        return policy
    raise PolicyError(f"policy is {policy!r}; give a twinjit.Policy or None")


def _attribute_names(names: object) -> frozenset[str]:
    if (
        not isinstance(names, Collection)
        or isinstance(names, bytes | Mapping)
        or not all(isinstance(name, str) and name for name in names)
    ):
        raise PolicyError(
            f"the policy's discardable is {names!r}; give 'keep', 'ignore', or a collection of "
            "attribute names"
        )
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise PolicyError(
            f"the policy's discardable is {names!r}, of which a name is not valid Unicode"
        ) from error
    return frozenset(names)
