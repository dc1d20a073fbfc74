"""Tell whether two figures are one amount in two units, as in `350 °F (177 °C)`."""

from __future__ import annotations

from decimal import Decimal

from .figure import Figure

_FACTORS = {
    "millimetre": ("length", "0.001"),
    "centimetre": ("length", "0.01"),
    "metre": ("length", "1"),
    "kilometre": ("length", "1000"),
    "inch": ("length", "0.0254"),
    "foot": ("length", "0.3048"),
    "yard": ("length", "0.9144"),
    "mile": ("length", "1609.344"),
    "gram": ("mass", "1"),
    "kilogram": ("mass", "1000"),
    "ton": ("mass", "1000000"),
    "ounce": ("mass", "28.3495"),
    "pound": ("mass", "453.592"),
    "millilitre": ("volume", "0.001"),
    "litre": ("volume", "1"),
    "gallon": ("volume", "3.78541"),
    "square metre": ("area", "1"),
    "square kilometre": ("area", "1000000"),
    "square mile": ("area", "2589988"),
    "hectare": ("area", "10000"),
    "acre": ("area", "4046.86"),
    "km/h": ("speed", "1"),
    "mph": ("speed", "1.609344"),
    "m/s": ("speed", "3.6"),
}
"""The kind of each unit, and how much of its base unit it is."""

_TOLERANCE = Decimal("0.03")
"""How far a rounded amount may be from the exact one, as a share."""

_DEGREES = Decimal(1)
"""The same for temperatures, in degrees Celsius."""


def is_converted(figure: Figure, original: Figure) -> bool:
    """Tell whether a figure is another one in another unit of the same kind, rounded."""
    if figure.unit == original.unit or len(figure.amounts) != len(original.amounts):
        return False
    for amounts, originals in zip(figure.amounts, original.amounts, strict=True):
        amount = _in_base_unit(amounts[0], figure)
        other = _in_base_unit(originals[0], original)
        if amount is None or other is None or amount[0] != other[0]:
            return False
        most = _DEGREES if amount[0] == "temperature" else abs(other[1]) * _TOLERANCE
        if abs(amount[1] - other[1]) > most:
            return False
    return True


def _in_base_unit(amount: Decimal | str, figure: Figure) -> tuple[str, Decimal] | None:
    """Return the kind of an amount, and the amount in the base unit of that kind."""
    if isinstance(amount, str):
        return None
    if figure.unit in ("degree Celsius", "degree"):
        return "temperature", amount
    if figure.unit == "degree Fahrenheit":
        return "temperature", (amount - 32) * 5 / 9
    if figure.unit not in _FACTORS:
        return None
    kind, factor = _FACTORS[figure.unit]
    return kind, amount * figure.magnitude * Decimal(factor)
