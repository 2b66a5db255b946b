"""What graphs do with numbers that they give, and with their texts. None of it raises: a trace has looked at the other operands."""

import math


def text_of(number, spec):
    """`format(number, spec)`."""
    return format(number, spec)


def joined(*parts):
    """The parts of a text one after the other."""
    return "".join(parts)


def filled(text, *values):
    """`text % values`."""
    return text % values


def formatted(text, *values):
    """`text.format(*values)`."""
    return text.format(*values)


def bit_length(number):
    return number.bit_length()


def added(left, right):
    return left + right


def summed(start, *numbers):
    """`sum(numbers, start)`."""
    return sum(numbers, start)


def chosen(items, index):
    """`items[index]`; the index is in range."""
    return items[index]


def subtracted(left, right):
    return left - right


def multiplied(left, right):
    return left * right


def divided(left, right):
    return left / right


def powered(left, right):
    return left**right


def square_root(number):
    return math.sqrt(number)


def negated(number):
    return -number


def floor_divided(left, right):
    return left // right


def remainder(left, right):
    return left % right


def is_equal(left, right):
    return left == right


def is_unequal(left, right):
    return left != right


def is_less(left, right):
    return left < right


def is_at_most(left, right):
    return left <= right


def is_greater(left, right):
    return left > right


def is_at_least(left, right):
    return left >= right


def absolute(number):
    return abs(number)


def to_float(number):
    return float(number)


def least(*numbers):
    return min(numbers)


def greatest(*numbers):
    return max(numbers)
