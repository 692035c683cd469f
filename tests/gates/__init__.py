"""Gates: programs that look for what tests in one process cannot see, and the drill that proves that they see it.

Each is a command of its own, run from anywhere, that exits with 0 only when nothing was found.

    build_copies.py     copies of the sources, built with other switches, under build/
    leaks.py            references and blocks that are still there after every operation, errors included
    sanitize.py         the whole suite and the fuzz targets under AddressSanitizer and UBSan
    memory_check.py     the vectors and the corpus under valgrind
    debug_python.py     an interpreter built for debugging, and leaks.py on it
    free_threads.py     an interpreter without the GIL and with ThreadSanitizer, and threads on it
    line_coverage.py          lines and branches that the suite never reaches
    figures.py          the line in which a gate reports what it has counted
    reliability.py      all of them one after the other, and the page with their figures
    faults.py           deliberate bugs, one at a time, and whether the gate named for each finds it
"""
