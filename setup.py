"""The extensions and the build switches; everything else is in pyproject.toml.

Switches, all off by default, set to 1 in the environment: TYPEDBYTES_DEBUG (assertions, -O0), TYPEDBYTES_TRACE (counts
lines and branches, -O0), TYPEDBYTES_SANITIZE (AddressSanitizer and UBSan), TYPEDBYTES_WERROR (warnings are errors),
TYPEDBYTES_ANNOTATE (HTML of the generated C), TYPEDBYTES_PORTABLE (only public interpreter API).
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup


def switch(name):
    return os.environ.get(f"TYPEDBYTES_{name}", "0") not in ("", "0")


MODULES = ["_core", "columns._native", "sequencefile._native", "_sorting._native", "_report._native"]
if sys.platform != "win32":
    MODULES.append("block._native")  # its system calls are those of POSIX

compile_args = []
if sys.platform != "win32":
    compile_args += ["-O3", "-fstack-protector-strong", "-Wno-unused-function", "-Wno-attributes", "-fno-inline-functions-called-once"]
link_args = []
# Without memory for the names of arguments, Cython 3.3's vectorcall form of tp_new releases arguments that it does not own: it is
# switched off. Its list comprehensions release an item twice when the list cannot grow. No macro avoids that: the core appends.
macros = [("CYTHON_VECTORCALL_TPNEW", "0")]
core_macros = []
if sys.platform != "win32" and not switch("TRACE"):  # which would count the branches of each copy
    # The scalar cases must be inlined into each container's loop; by itself, the compiler calls them.
    # The other modules gain nothing from it, and take a quarter longer to compile.
    core_macros.append(("CYTHON_INLINE", "__inline__ __attribute__((always_inline))"))
directives = {
    "language_level": 3,
    "binding": False,
    "embedsignature": True,
    "embedsignature.format": "clinic",
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}

if sys.platform != "win32" and not any(map(switch, ("DEBUG", "TRACE", "SANITIZE"))):
    compile_args.append("-g0")  # the interpreter's own flags ask for debug information: six times the size
if switch("DEBUG"):
    compile_args += ["-O0", "-g"]
if switch("TRACE"):
    compile_args += ["-O0", "--coverage"]
    link_args += ["--coverage"]
if switch("SANITIZE"):
    compile_args += ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    link_args += ["-fsanitize=address,undefined"]
if switch("WERROR"):
    compile_args += ["-Wall", "-Werror"]
if switch("PORTABLE"):
    macros += [("TYPEDBYTES_PORTABLE", "1")]

extensions = [
    Extension(
        f"typedbytes.{module}",
        [f"src/typedbytes/{module.replace('.', '/')}.pyx"],
        include_dirs=["src/typedbytes"],
        define_macros=macros + (core_macros if module == "_core" else []),
        extra_compile_args=compile_args,
        extra_link_args=link_args,
    )
    for module in MODULES
]

setup(
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        extensions,
        include_path=["src"],
        compiler_directives=directives,
        annotate=switch("ANNOTATE"),
        build_dir="build/cython",
    ),
)
