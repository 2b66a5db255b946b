"""CPython's own tests with the hook and without: no new failure is allowed.

Usage: python run.py [--modes observe,reassemble] [--jobs N] [--rounds N] [test_file ...]
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

CHILD = pathlib.Path(__file__).with_name("child.py")
LIMIT = 300  # seconds for one file
FILES = """
test_abc test_argparse test_array test_ast test_asyncgen test_atexit test_augassign test_base64 test_baseexception
test_binop test_bisect test_bool test_builtin test_bytes test_call test_class test_cmath test_code test_codecs
test_collections test_compare test_compile test_complex test_configparser test_contains test_context test_contextlib
test_contextlib_async test_copy test_copyreg test_coroutines test_csv test_ctypes test_dataclasses test_datetime
test_decorators test_defaultdict test_deque test_descr test_descrtut test_dict test_dict_version test_dictcomps
test_dictviews test_difflib test_dis test_doctest test_dynamic test_dynamicclassattribute test_enum test_enumerate
test_eof test_except_star test_exception_group test_exception_hierarchy test_exception_variations test_exceptions
test_extcall test_finalization test_float test_flufl test_fnmatch test_format test_fractions test_frame test_frozen
test_fstring test_funcattrs test_functools test_future_stmt test_gc test_generator_stop test_generators test_genericalias
test_genericclass test_genericpath test_genexps test_getopt test_glob test_global test_grammar test_graphlib test_hash
test_heapq test_hmac test_html test_index test_inspect test_int test_int_literal test_io test_isinstance test_iter
test_iterlen test_itertools test_json test_keyword test_keywordonlyarg test_linecache test_list test_listcomps test_locale
test_logging test_long test_longexp test_marshal test_math test_memoryview test_metaclass test_monitoring test_named_expressions
test_numeric_tower test_opcodes test_operator test_optparse test_ordered_dict test_os test_osx_env test_pathlib test_patma
test_pdb test_peepholer test_pickle test_pkgutil test_positional_only_arg test_pow test_pprint test_print test_property
test_pulldom test_queue test_raise test_random test_range test_re test_reprlib test_richcmp test_rlcompleter test_sched
test_scope test_set test_setcomps test_shelve test_shlex test_slice test_sort test_statistics test_str test_strftime
test_string test_string_literals test_stringprep test_strptime test_structseq test_struct test_subclassinit test_super
test_symtable test_sys test_sys_setprofile test_sys_settrace test_sysconfig test_tabnanny test_tempfile test_textwrap
test_thread test_threadedtempfile test_threading test_threading_local test_timeit test_tokenize test_trace test_traceback
test_tuple test_type_aliases test_type_annotations test_type_comments test_type_params test_typechecks test_types test_typing
test_unary test_unicode_identifiers test_unpack test_unpack_ex test_userdict test_userlist test_userstring test_uuid
test_warnings test_weakref test_weakset test_with test_xml_etree test_yield_from test_zipfile
test_asyncio.test_tasks test_asyncio.test_futures test_asyncio.test_locks test_asyncio.test_queues
test_asyncio.test_taskgroups test_asyncio.test_timeouts
""".split()


def run(mode, name, rounds=1, given=None):
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONFAULTHANDLER="1")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", str(CHILD), mode, name, str(rounds)]
        if given is not None:
            path = pathlib.Path(folder, "given.json")
            path.write_text(json.dumps(given))
            command.append(str(path))
        # A session of its own: tests leave children behind, which end with it.
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            errors="replace", cwd=folder, env=environment, start_new_session=True,
        )
        try:
            stdout, stderr = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return {"outcomes": {"(file)": "timeout"}, "counters": {}, "details": {}}
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    lines = [line for line in stdout.splitlines() if line.startswith('{"outcomes"')]
    if not lines:
        tail = "\n".join(stderr.splitlines()[-30:])
        return {"outcomes": {"(file)": f"died with {child.returncode}"}, "counters": {}, "details": {"(file)": tail}}
    return json.loads(lines[-1])


IDENTITY = "compares the code object that runs with the function's own"
MIDLINE = "a trace function sees the continuation's frame begin, in the middle of a line"
DELEGATES = "sees the frame that delegates to the continuation"
KEPT = "the proof keeps what it splits alive"
# Outcomes that splitting must change: reported, not counted as worse.
BY_NATURE = {
    "split": {
        "test.test_generators.YieldFromTests.test_generator_gi_yieldfrom": DELEGATES,
        "test.test_coroutines.CoroutineTest.test_cr_await": DELEGATES,
        "test.test_generators.__test__.syntax": IDENTITY,
    }
    | {
        f"test.test_patma.TestTracing.test_{name}": MIDLINE
        for name in ("default_capture", "default_wildcard", "no_default", "only_default_capture", "only_default_wildcard", "unreachable_code")
    }
    | {f"test.test_code.{name}": KEPT for name in ("CoExtra.test_free_called", "CoExtra.test_free_different_thread", "CodeWeakRefTest.test_basic")}
    | {
        "test.test_super.TestSuper.test_obscure_super_errors": "super() says which argument is missing: a continuation has others",
    },
}

# Tests that are worse in these modes, too, are not counted: an empty hook (under which the interpreter inlines no calls and
# specialises less, and reports C_RETURN for Python functions), frames that run what `code.replace()` gives, and no hook at all
# where each test runs as often.
CONTROLS = {"observe": ["empty"], "reassemble": ["empty", "copy"], "split": ["empty", "often", "copy"]}
WORDS = {
    "empty": "an empty hook changes it too",
    "copy": "running a copy by code.replace() changes it too",
    "often": "running as often without a hook changes it too",
}

BAD = ("fail", "error", "unexpected success", "timeout", "died")


def bad(outcome):
    return outcome is None or outcome.startswith(BAD)


def worse(plain, hooked):
    """Tests that are bad with the hook and were not without; a test that vanished counts, one that was not repeated does not."""
    out = []
    if "(file)" in hooked["outcomes"]:
        return [("(file)", hooked["outcomes"]["(file)"])] if "(file)" not in plain["outcomes"] else []
    for test, outcome in {**dict.fromkeys(plain["outcomes"]), **hooked["outcomes"]}.items():
        if outcome is None and test.endswith(" again"):
            continue
        if bad(outcome) and not bad(plain["outcomes"].get(test, "pass")):
            out.append((test, outcome or "vanished"))
    return out


LOOKS = "looks at frames, where a break shows: it passes when only the functions that it looks at run whole"


def lookers(plain, name, rounds, found):
    """The tests that are worse only because functions are split whose frames they look at.

    A first run without the hook lists these functions; a second one splits all others.
    """
    watched = run("watch", name, rounds).get("watched")
    if watched is None:
        return {}
    still = dict(worse(plain, run("split", name, rounds, watched)))
    return {test: LOOKS for test, _ in found if test not in still and "(file)" not in still}


def by_nature(mode, test):
    """Why the mode must change the test's outcome, or None."""
    return BY_NATURE.get(mode, {}).get(test.removesuffix(" again"))


def compare(name, modes, rounds):
    plain = run("none", name, rounds)
    report = {}
    for mode in modes:
        hooked = run(mode, name, rounds)
        found = worse(plain, hooked)
        if found and not any("died" in outcome for _, outcome in found):
            # Timing, ports, load: only what fails again, and passes again without, counts.
            plain_again, hooked_again = run("none", name, rounds), run(mode, name, rounds)
            found = [item for item in worse(plain_again, hooked_again) if item[0] in dict(found)]
            hooked = hooked_again
        inherent = {}
        for control in CONTROLS.get(mode, ()) if found else ():
            same = dict(worse(plain, run(control, name, rounds, hooked.get("runs", {}) if control == "often" else None)))
            inherent |= {test: WORDS[control] for test, _ in found if test in same and test not in inherent and test != "(file)"}
        inherent |= {test: by_nature(mode, test) for test, _ in found if by_nature(mode, test)}
        left = [item for item in found if item[0] not in inherent]
        inherent |= lookers(plain, name, rounds, left) if left and mode == "split" else {}
        report[mode] = ([item for item in found if item[0] not in inherent], hooked, inherent)
    return name, plain, report


def merge(functions, more):
    """Adds what was split in one file, by function: reachable instructions, and two bit strings in hexadecimal digits."""
    for name, (reachable, *rows) in more.items():
        known = functions.get(name, [reachable, *("0" * len(row) for row in rows)])[1:]
        both = (map("{:x}".format, (int(a, 16) | int(b, 16) for a, b in zip(*pair))) for pair in zip(known, rows))
        functions[name] = [reachable, *map("".join, both)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modes", default="observe,reassemble")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=1, help="run each test this often while that breaks something new")
    parser.add_argument("--list", action="store_true", help="print the names of the files")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    options.files = options.files or FILES
    if options.list:
        print(json.dumps(options.files))
        return 0
    modes = options.modes.split(",")
    totals = {mode: {"tests": 0, "worse": 0, "inherent": 0, "frames": 0, "replaced": 0, "pairs": 0} for mode in modes}
    ran = 0
    failed, functions, refused = [], {}, {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, plain, report in pool.map(lambda name: compare(name, modes, options.rounds), options.files):
            ran += "(file)" not in plain["outcomes"]
            for mode, (found, hooked, inherent) in report.items():
                merge(functions, hooked.get("functions", {}))
                refused |= hooked.get("refused", {})
                totals[mode]["tests"] += len(hooked["outcomes"])
                totals[mode]["worse"] += len(found)
                totals[mode]["inherent"] += len(inherent)
                for test, reason in inherent.items():
                    print(f"{mode}: {name}: {test}: {reason}", flush=True)
                for key in ("frames", "replaced", "pairs"):
                    totals[mode][key] += hooked["counters"].get(key, 0)
                failed.extend(f"{name} ({mode}): {test}: {outcome}" for test, outcome in found)
                for test, outcome in found:
                    print(f"{mode}: {name}: {test}: {outcome}\n{hooked['details'].get(test, '')}", flush=True)
    for mode, total in totals.items():
        print(
            f"{mode}: {ran} of {len(options.files)} files ran, {total['tests']} tests, {total['frames']:,} frames, "
            f"{total['replaced']:,} replaced, {total['pairs']:,} (function, instruction) pairs, {total['worse']} worse than without the hook "
            f"({total['inherent']} more are worse in the control modes, too, or by what splitting changes: see above)"
        )
    passed = sum(total["tests"] - total["worse"] for total in totals.values())
    print(json.dumps({"passed": passed, "failed": failed, "skipped": [], "functions": functions, "refused": refused}))
    return 1 if any(total["worse"] for total in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
