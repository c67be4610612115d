"""What a program may refer to beside the process's own symbols: addresses that its user gives."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from struct import Struct

from blake3 import blake3

from twinjit._native import _llvm
from twinjit.errors import ConfigError
from twinjit.lazily import lazily

__all__ = ["NO_SYMBOLS", "Symbols"]

_ADDRESSES = Struct("<QQ")
_MOST = (1 << 64) - 1


class Symbols:
    """Addresses by the names that programs declare, and what has to live as long as these.

    Equal where names, addresses and owners are the same.

    Attributes
    ----------
    addresses
        By name.
    owners
        Objects that code keeps alive, since its calls would lead nowhere without them.
    """

    def __init__(self, addresses: Mapping[str, int], owners: Mapping[str, object]) -> None:
        self.addresses = dict(addresses)
        self.owners = tuple(owners.values())
        self._ids = {name: id(owner) for name, owner in owners.items()}

    @classmethod
    def of(cls, given: Mapping[str, object] | None) -> Symbols:
        """Read the option `symbols` of `Compiler.compile`.

        Raises
        ------
        ConfigError
            If it is no mapping of names to ctypes functions, addresses, or objects with one.
        """
        if not given:
            return NO_SYMBOLS
        if not isinstance(given, Mapping):
            raise ConfigError(f"symbols is {given!r}; give a mapping of names to addresses")
        addresses = {}
        for name, value in given.items():
            if not isinstance(name, str) or not name or not _is_free(name):
                raise ConfigError(f"symbols has the name {name!r}; give one that programs declare")
            addresses[name] = _address_of(name, value)
        owners = {name: value for name, value in given.items() if not isinstance(value, int)}
        return cls(addresses, owners)

    @lazily
    def digest(self) -> bytes:
        """BLAKE3-256 of this process's addresses and owners; empty where there are none."""
        if not self.addresses:
            return b""
        hasher = blake3()
        for name in sorted(self.addresses):
            raw = name.encode()
            hasher.update(len(raw).to_bytes(8, "little") + raw)
            # An address may be used again once its owner is gone, but not while code holds that.
            hasher.update(_ADDRESSES.pack(self.addresses[name], self._ids.get(name, 0)))
        return hasher.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbols) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


NO_SYMBOLS = Symbols({}, {})


def _is_free(name: str) -> bool:
    is_unicode = name.encode(errors="replace").decode() == name  # no lone surrogates
    return is_unicode and not name.startswith("twinjit.")


def _address_of(name: str, value: object) -> int:
    if isinstance(value, _llvm.Function):
        raise ConfigError(
            f"symbols[{name!r}] is a function of an executable, which is called in Python's way; "
            "give exe.ctypes(name) of it"
        )
    address = value if isinstance(value, int) else getattr(value, "address", None)
    ctypes = sys.modules.get("ctypes")  # whoever has a function of it has loaded it
    if ctypes and isinstance(value, ctypes.CFUNCTYPE(None).__base__):
        address = ctypes.cast(value, ctypes.c_void_p).value
    if isinstance(address, bool) or not isinstance(address, int) or not 0 < address <= _MOST:
        raise ConfigError(
            f"symbols[{name!r}] is {value!r}; give a ctypes function, an address, or an object "
            "with an attribute 'address', such as a numba.cfunc"
        )
    return address
