"""Records of `logging`: each call that makes one runs natively as a whole, and says who called it; where nothing listens it is traced."""

import io
import logging
import logging.handlers
import unittest

import slotrt

FORMAT = "%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(threadName)s %(message)s"


class Own(logging.Handler):
    """A handler of the program's."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def emit(self, record):
        self.kept.append((record.getMessage(), record.funcName, record.lineno))


def logger():
    """A logger of its own, what it writes, and what its handlers keep."""
    made, text, own = logging.Logger("tests", "INFO"), io.StringIO(), Own()
    memory = logging.handlers.MemoryHandler(100)
    stream = logging.StreamHandler(text)
    stream.setFormatter(logging.Formatter(FORMAT))
    for handler in (stream, own, memory):
        made.addHandler(handler)
    # Code that goes on after a break has lines, not columns.
    lines = lambda: [line for line in text.getvalue().splitlines() if line.strip("~^ ")]  # noqa: E731
    return made, lambda: (lines(), own.kept, [record.getMessage() for record in memory.buffer])


def inner(log, number):
    log.warning("in %s", {"inner": number})
    return number * 2


def plain(log, number):
    log.info("number %d of %s", number, [number])
    log.debug("nothing %s", number)
    return inner(log, number) + 1


def raising(log, number):
    try:
        return 1 / (number % 2)
    except ZeroDivisionError as error:
        log.exception("divided %s", error)
        log.error("again", exc_info=True)
        return number


def adapted(log, number):
    adapter = logging.LoggerAdapter(log, {"number": number})
    adapter.info("with %s", number)
    return adapter.isEnabledFor(logging.DEBUG), log.getEffectiveLevel()


def levels(log, number):
    log.setLevel("ERROR" if number % 2 else "INFO")
    log.info("at %s", log.level)
    log.log(logging.CRITICAL, "always", stack_info=False, extra={"more": number})
    return log.isEnabledFor(logging.INFO)


def filtered(log, number):
    keep = lambda record: record.levelno > logging.INFO  # noqa: E731
    log.addFilter(keep)
    log.info("lost")
    log.warning("kept")
    log.removeFilter(keep)
    return number


def wrong(log, number):
    log.info("%d", number, stacklevel=1)
    log.info("%s %s", number, number)
    try:
        log.log("level", "text")
    except TypeError as error:
        return str(error)


PROGRAMS = [plain, raising, adapted, levels, filtered, wrong]


class Logs(unittest.TestCase):
    def test_programs(self):
        for program in PROGRAMS:
            with self.subTest(program=program.__name__):
                (log, kept), (other, found) = logger(), logger()
                compiled = slotrt.compile(program)
                for number in range(5):
                    self.assertEqual(compiled(other, number), program(log, number))
                self.assertEqual(found(), kept())

    def test_breaks(self):
        log, found = logger()

        @slotrt.compile
        def function(number):
            log.info("number %d", number)
            log.debug("nothing %d", number)
            return number + 1

        slotrt.reset()
        for number in range(6):
            self.assertEqual(function(number), number + 1)
        stats = slotrt.stats()
        self.assertEqual(len(found()[1]), 6)
        # One in the function, one where the program's own handler has the text made; and where numbers change, again.
        self.assertLessEqual(stats["graph_breaks"], 4)

    def test_nothing_listens(self):
        log = logging.Logger("quiet", "ERROR")

        @slotrt.compile(fullgraph=True)
        def function(number):
            log.info("number %d", number)
            return number + 1

        self.assertEqual(function(1), 2)
        self.assertEqual(function(1), 2)


if __name__ == "__main__":
    unittest.main()
