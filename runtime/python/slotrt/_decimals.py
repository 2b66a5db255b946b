"""Contexts of decimal arithmetic: what compiled code changes in them."""

PARTS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def give(context, state):
    """Makes a context what `__reduce__` said of another one: its parts, the signals that are flagged, and those that are trapped."""
    *parts, flags, traps = state
    for name, part in zip(PARTS, parts):
        setattr(context, name, part)
    for signals, chosen in ((context.flags, flags), (context.traps, traps)):
        for signal in signals:
            signals[signal] = signal in chosen
