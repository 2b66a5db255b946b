"""Sets contexts of decimal arithmetic; compiled code calls it."""

PARTS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def give(context, state):
    """Sets a context to the state that `__reduce__` gave for another: its parts, its flags, its traps."""
    *parts, flags, traps = state
    for name, part in zip(PARTS, parts):
        setattr(context, name, part)
    for signals, chosen in ((context.flags, flags), (context.traps, traps)):
        for signal in signals:
            signals[signal] = signal in chosen
