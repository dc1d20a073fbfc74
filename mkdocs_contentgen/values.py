"""Check the values of options against annotated types, and say what is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .display import quoted

if TYPE_CHECKING:
    from msgspec.inspect import Type


def credential(variable: str) -> dict[str, str]:
    """Return the `extra` of the type of a secret, which an environment variable can hold.

    Its `message` is all that is said of a value that is wrong.
    """
    return {"message": f"is not a text to YAML; put it in quotes, or set {variable} instead"}


def convert(value: object, kind: object) -> object:
    """Return a value as a type, which can be annotated with a `msgspec.Meta`.

    Raises ValueError with what is expected, which is the description of the type or else its
    limits, and with what was found.
    """
    import msgspec  # sites that set no option start without it

    try:
        converted: object = msgspec.convert(value, kind)
    except ValueError:
        info = msgspec.inspect.type_info(kind)
        extra = info.extra if isinstance(info, msgspec.inspect.Metadata) else None
        if extra:
            raise ValueError(extra["message"]) from None
        raise ValueError(f"expected {_expected(info)}, found {quoted(value)}") from None
    return converted


def _expected(info: Type) -> str:
    """Return the values of a type in words."""
    from msgspec.inspect import BoolType, FloatType, IntType, Metadata, NoneType, UnionType

    match info:
        case Metadata(extra_json_schema={"description": text}):
            return str(text)
        case IntType(ge=least, le=most):
            return f"a whole number from {least} {'up' if most is None else f'to {most}'}"
        case FloatType(ge=least, le=most):
            return f"a number from {least:g} to {most:.0f}"
        case BoolType():
            return "true or false"
        case UnionType(types=types):
            return " or ".join(_expected(it) for it in types if not isinstance(it, NoneType))
    return "another value"
