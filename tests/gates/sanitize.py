"""The whole suite, but for Hadoop's jobs, and the fuzz targets, in a copy built with AddressSanitizer and UBSan.

    python tests/gates/sanitize.py [ARGUMENT OF PYTEST ...]

Here: the switches, the environment of such a build, the runs. Not here: tests. Invariant: memory comes from malloc,
since pymalloc's blocks have no red zones; leaks are not looked for here, since an interpreter never frees everything
(leaks.py does); the first report ends the process.
"""

import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402

NAME = "sanitized"  # the first word of a gate that wants this build
SWITCHES = {"TYPEDBYTES_SANITIZE": "1"}
EXECUTIONS = 5_000  # of each target

#: Tests whose subject a sanitizer changes.
LEFT_OUT = {
    "core/test_hostile.py::test_a_thread_with_a_small_stack": "frames are several times as large",
    "core/test_depth.py::test_the_deepest_values_on_a_stack_of_128_kib": "as above",
    "core/test_depth.py::test_a_deep_key_on_a_stack_of_128_kib": "as above",
    "core/test_depth.py::test_a_default_that_nests_on_a_stack_of_256_kib": "as above",
    "core/test_guard_page.py::test_a_byte_too_far_kills": "AddressSanitizer catches the signal and aborts",
    "core/test_limits.py::test_a_mebibyte_costs_no_more_than_its_lists": "it keeps what was freed",
    "core/test_page_faults.py": "as above",
    "columns/test_batches.py::test_memory_does_not_depend_on_the_size_of_records": "as above",
    "sorting/test_external.py::test_memory_follows_the_limit_whatever_the_records_are": "as above",
    "cli/test_large_values.py": "as above",
    "sorting/test_external.py::test_large_records_of_several_threads_stay_within_the_limit_too": "as above",
    "sorting/test_external.py::test_a_process_that_sorts_stays_within_the_limit": "as above",
    "sorting/test_external.py::test_a_process_that_merges_stays_within_the_limit_whatever_the_codec": "as above",
    "sorting/test_external.py::test_memory_that_cannot_be_had_is_an_error_wherever_it_is_wanted": (
        "it cannot run where memory is limited"
    ),
    "hadoop/test_submit.py::test_what_is_in_a_bundle": (
        "its environment has nothing but what a node's has, so no sanitizer"
    ),
    "local/test_local.py::test_a_program_that_has_the_package_to_itself_is_told_what_its_tasks_lack": "as above",
    "block/test_coalescing.py::test_a_time_of_day_that_is_set_back_delays_nothing": (
        "AddressSanitizer asks its clock before there is memory"
    ),
    "package/test_gates.py": "blocks are not counted where malloc gives them",
    "cli/test_cli.py::test_text_by_mistake": "AddressSanitizer cannot start where memory is limited",
    "cli/test_cli.py::test_out_of_memory": "as above",
}


def tests(file, *words):
    """Return the gate that is some of the tests in this build."""
    return (NAME, "-m", "pytest", "-x", "-q", f"tests/{file}", *words)


def environment():
    """Return the environment that a process needs to load such extensions."""
    return {
        "LD_PRELOAD": " ".join(library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:handle_segv=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
    }


def library(name):
    """Return the path of a library of the compiler's."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main(arguments):
    """Build the copy, and run the suite and the targets."""
    folder = build_copies.copy_and_build("sanitized", **SWITCHES)
    left_out = [word for name in LEFT_OUT for word in ("--deselect", f"tests/{name}")]
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "not hadoop", *left_out, *arguments, "tests"]
    fuzz = [sys.executable, "tests/fuzz/run.py", "--executions", EXECUTIONS, "--seed", 1]
    codes = [build_copies.run(folder, *command, **environment()) for command in (pytest, fuzz)]
    print("sanitizers: no report" if not any(codes) else f"sanitizers: exit codes {codes}")
    figures.report(runs=len(codes), failed=sum(code != 0 for code in codes))
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
