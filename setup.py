"""The extensions and the build switches; everything else is in pyproject.toml.

Switches, all off by default, set to 1 in the environment: TYPEDBYTES_DEBUG (no optimisation, debug information,
every compiled function in tracebacks), TYPEDBYTES_TRACE (counts lines and branches, -O0), TYPEDBYTES_SANITIZE
(AddressSanitizer and UBSan), TYPEDBYTES_WERROR (warnings are errors), TYPEDBYTES_ANNOTATE (HTML of the generated C),
TYPEDBYTES_PORTABLE (only public interpreter API), TYPEDBYTES_QUICK (compiles in less than half the time: the core with
-O1, the rest with -O0), TYPEDBYTES_NO_UNWIND_TABLES (smaller; debuggers and profilers cannot unwind our frames).
"""

import glob
import gzip
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from sysconfig import get_platform

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError, PlatformError

# 1980: archives and wheels of the same files are the same bytes
os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")


def switch(name):
    """Return whether a switch of the build, TYPEDBYTES_ and its name in the environment, is on."""
    return os.environ.get(f"TYPEDBYTES_{name}", "0") not in ("", "0")


with_msvc = sys.platform == "win32"  # zig, which builds for Windows elsewhere, takes gcc's options
for_windows = get_platform().startswith("win")  # also where a build for it runs elsewhere
for_linux = get_platform().startswith("linux")
MODULES = ["_core", "columns._native", "sequencefile._native", "_sorting._native", "_report._native"]
if not for_windows:
    MODULES.append("block._native")  # its system calls are those of POSIX

compile_args = []
if not with_msvc:
    compile_args += ["-O3", "-fstack-protector-strong", "-Wno-unused-function", "-Wno-attributes"]
    # The limits that -O2 has for inlining: the modules are a tenth smaller, and no path is slower.
    compile_args += [
        "--param=max-inline-insns-auto=15",
        "--param=early-inlining-insns=6",
        "--param=inline-min-speedup=30",
    ]
    # Functions and targets of jumps lie where they fall: the padding between them is 3 % of a
    # wheel. Loops stay aligned.
    compile_args += ["-falign-functions=1", "-fno-align-jumps", "-fno-align-labels"]
link_args = []
# the addresses of other libraries' functions are found at the import, and read-only from then on: calls need no stubs
if for_linux:
    compile_args.append("-fno-plt")
    link_args.append("-Wl,-z,now")
# Without memory for the names of arguments, Cython 3.3's vectorcall form of tp_new releases arguments that it does not
# own: it is switched off. Its list comprehensions release an item twice when the list cannot grow. No macro turns that
# off, so our code calls list.append() instead, as a test sees. Strings that it compresses are larger in a wheel than
# others, and every import expands them.
macros = [("CYTHON_VECTORCALL_TPNEW", "0"), ("CYTHON_COMPRESS_STRINGS", "0")]
core_macros = []
if not with_msvc and not switch("TRACE") and not switch("QUICK"):  # coverage would count every inlined copy's branches
    # The scalar cases must be inlined into each container's loop; by itself, the compiler calls them.
    # The other modules gain nothing from it, and take a quarter longer to compile.
    core_macros.append(("CYTHON_INLINE", "__inline__ __attribute__((always_inline))"))
core_args, other_args = [], []
if for_linux and not any(map(switch, ("DEBUG", "TRACE", "SANITIZE", "QUICK"))):
    # not in the core: there it changes what is inlined, and paths take more
    other_args += ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
directives = {
    "language_level": 3,
    "binding": False,
    "embedsignature": True,
    "embedsignature.format": "clinic",
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,  # importing a module leaves the GIL disabled
}

if not with_msvc and not any(map(switch, ("DEBUG", "TRACE", "SANITIZE"))):
    compile_args.append("-g0")  # the interpreter's own flags ask for debug information: six times the size
if switch("QUICK"):
    core_args.append("-O1")  # without, deep values take several times the stack
    other_args.append("-O0")
if switch("DEBUG"):
    compile_args += ["-O0", "-g"]
    macros.append(("TYPEDBYTES_DEBUG", "1"))
if switch("TRACE"):
    compile_args += ["-O0", "--coverage"]
    link_args += ["--coverage"]
if switch("SANITIZE"):
    compile_args += [
        "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer",
    ]  # fmt: skip
    link_args += ["-fsanitize=address,undefined"]
if switch("WERROR"):
    compile_args += ["-Wall", "-Werror"]
if switch("NO_UNWIND_TABLES"):  # not by CFLAGS: setuptools takes them in place of the interpreter's own
    compile_args.append("-fno-asynchronous-unwind-tables")
if switch("PORTABLE"):
    macros += [("TYPEDBYTES_PORTABLE", "1")]

# Cython finds only those named in .pxd files, not what these include
headers = sorted(glob.glob("src/typedbytes/**/*.h", recursive=True))
extensions = [
    Extension(
        f"typedbytes.{module}",
        [f"src/typedbytes/{module.replace('.', '/')}.pyx"],
        include_dirs=["src/typedbytes"],
        depends=headers,
        define_macros=macros + (core_macros if module == "_core" else []),
        extra_compile_args=compile_args + (core_args if module == "_core" else other_args),
        extra_link_args=link_args,
    )
    for module in MODULES
]


class BuildExt(build_ext):
    """Translate the Cython sources when something is built; asking for the metadata does not."""

    def build_extensions(self):
        """Check the compiler, translate the sources, and compile what came of them."""
        self.check_compiler()
        from Cython.Build import cythonize

        translated = cythonize(
            self.extensions,
            include_path=["src"],
            compiler_directives=directives,
            annotate=switch("ANNOTATE"),
            build_dir="build/cython",
        )
        inlining, shadow_stack = self.inlining(), self.shadow_stack()
        for extension, result in zip(self.extensions, translated):
            extension.sources = result.sources
            extension.extra_compile_args = [*extension.extra_compile_args, *inlining, *shadow_stack]
            extension.extra_link_args = [*extension.extra_link_args, *shadow_stack]
        super().build_extensions()

    def check_compiler(self):
        """Raise PlatformError if C cannot be compiled here; found out before the minute that the translation takes."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "probe.c")
            with open(source, "w") as file:
                file.write("#include <Python.h>\n")
            try:
                self.compiler.compile([source], output_dir=folder)
            except CompileError as error:
                message = (
                    "building typedbytes needs a C compiler, named by CC or the one that Python was built with, "
                    f"and Python's headers; on Debian and Ubuntu: apt install gcc python3-dev ({error})"
                )
                raise PlatformError(message) from None

    def inlining(self):
        """Return the option to inline only functions marked so: else a level of nesting takes twice the stack."""
        if with_msvc:
            return []
        version = subprocess.run([*self.compiler.compiler_so, "--version"], capture_output=True, text=True).stdout
        return ["-finline-hint-functions" if "clang" in version else "-fno-inline-functions-called-once"]

    def shadow_stack(self):
        """Return the options that let the shadow stack of x86's CET check our returns, where the tools have them.

        They cost no instruction. CET's other half, which Linux does not use for programs,
        takes one in each function that is called by its address.
        """
        options = ["-fcf-protection=return", "-Wl,-z,shstk"]
        if not for_linux:
            return []
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "probe.c")
            with open(source, "w") as file:
                file.write("int probe(void) { return 0; }\n")
            command = [*self.compiler.compiler_so, *options, "-shared", "-o", f"{source}.so", source]
            return options if subprocess.run(command, capture_output=True).returncode == 0 else []


class SourceArchive(sdist):
    """Write the same bytes for the same files: sorted names, no owners, and one time."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        """Make a gzip file of the archive's entries in their order: the same bytes each time."""
        time = int(os.environ["SOURCE_DATE_EPOCH"])

        def plain(entry):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = time, 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            return entry

        name = f"{base_name}.tar.gz"
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file, gzip.GzipFile("", "wb", 9, file, time) as packed:
            with tarfile.open(name, "w", packed, format=tarfile.PAX_FORMAT) as archive:
                archive.add(base_dir, filter=plain)  # in the order of their names
        return name


def readme():
    """Return the README with links and pictures that work wherever it is shown: to this version's files on GitHub."""
    with open("pyproject.toml", encoding="utf-8") as file:
        values = dict(re.findall(r'^(version|Homepage) = "(.*)"$', file.read(), re.M))
    with open("README.md", encoding="utf-8") as file:
        text = file.read().replace("](#", "](README.md#")
    text = re.sub(r"\]\((?!https?:)", f"]({values['Homepage']}/blob/v{values['version']}/", text)
    return re.sub(r'\b(src|srcset)="(?!https?:)', rf'\1="{values["Homepage"]}/raw/v{values["version"]}/', text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    options={"build_ext": {"parallel": os.cpu_count()}, "sdist": {"formats": "gztar"}},
    ext_modules=extensions,
    cmdclass={"build_ext": BuildExt, "sdist": SourceArchive},
)
