"""The site that `make docs` builds: these pages, the documents beside the sources, and the docstrings.

The documents link to each other as files of the repository, so that they can be read there; `resolve_links` makes these
links links between pages. The build fails when a public name is missing from the reference.
"""

import ast
import importlib
import inspect
import os
import pathlib
import re
import sys

import tomllib
from docutils import nodes
from sphinx.errors import ExtensionError

import typedbytes
from typedbytes.cli.main import parser_of
from typedbytes.cli.registry import COMMANDS

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "bench"), str(ROOT / "docs")]

import pictures  # noqa: E402
import signatures  # noqa: E402

import pages  # noqa: E402
import tables  # noqa: E402

pictures.write()

URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]

project = "typedbytes"
author = copyright = "The typedbytes developers"
version = release = typedbytes.__version__

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design", "notfound.extension", "sphinx_sitemap",
    "sphinxext.opengraph",
]  # fmt: skip
nitpicky = True
nitpick_ignore_regex = [("py:.*", "_?[A-Z]\\w+")]
default_role = "code"  # single backquotes in docstrings

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Methods of a base class are shown, those of these classes excepted.
BASES = "BaseException, Enum, Input, Output, bytes, float, int, str, tuple"
autodoc_default_options = {"members": True, "inherited-members": BASES, "member-order": "bysource"}
autodoc_typehints = "none"  # show_types shows them, of compiled code too
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"typedbytes {version}"
html_baseurl = URLS["Documentation"]
html_static_path = ["_static"]
templates_path = ["_templates"]
html_context = {"baseurl": html_baseurl, "versions": os.environ.get("TYPEDBYTES_DOCS_VERSIONS", "").split()}
html_favicon = "_static/logo.svg"
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo.svg",
    "source_repository": URLS["Homepage"],
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "Repository", "url": URLS["Homepage"], "html": "repository", "class": ""}],
}
copybutton_prompt_text = r">>> |\$ |\.\.\. "
copybutton_prompt_is_regexp = True
sitemap_url_scheme = "{link}"
sitemap_excludes = ["search.html", "genindex.html", "py-modindex.html", "404.html"]
notfound_urls_prefix = "/" + html_baseurl.rstrip("/").rpartition("/")[2] + "/"
ogp_site_url = html_baseurl
ogp_social_cards = {"enable": False}

# Pages for developers of the project: the search finds them by their titles alone.
DEVELOPMENT = re.compile("development/|results/|contributing|reliability|benchmarks|changelog")

# The page of each document, and of each folder, that lies outside docs/.
PAGES = {
    "README.md": "index",
    "SECURITY.md": "security",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "RELIABILITY.md": "reliability",
    "examples": "examples",
    "bench/README.md": "benchmarks",
    "bench/results": "benchmarks",
}


def public_names():
    """Return the full name of everything that a public module lists in `__all__`."""
    modules = [f"typedbytes.{each}" for each in (*typedbytes._MODULES, "streaming.lib", "streaming.testing")]
    names = {f"typedbytes.{each}" for each in typedbytes.__all__}
    of_jobs = {id(getattr(typedbytes.jobs, each)) for each in typedbytes.jobs.__all__}  # which engines show too
    for module in map(importlib.import_module, modules):
        # the rest is above
        own = [each for each in module.__all__ if getattr(module, each) is not getattr(typedbytes, each, None)]
        own = [each for each in own if module is typedbytes.jobs or id(getattr(module, each)) not in of_jobs]
        names.update(f"{module.__name__}.{each}" for each in own)
    return names


TYPES = signatures.Types(public_names())


def commands():
    """Return the help of every command as Markdown."""
    helps = [(name, parser_of(name).format_help()) for name in sorted(COMMANDS)]
    return "\n".join(f"## {name}\n\n```text\n{help}```\n" for name, help in helps)


def results(docname):
    """Return the tables of the record of the page's name, with its plots."""
    page = pages.write(pages.RECORDS / f"{pathlib.Path(docname).name}.json")
    return re.sub(r"\]\(([\w.-]+\.svg)\)", rf"](/{os.path.relpath(page.parent, ROOT / 'docs')}/\1)", page.read_text())


def include(app, docname, source):
    """Put documents from outside docs/ into the pages that include them, and resolve the links of all."""

    def included(match):
        path = ROOT / "docs" / match[1]
        return resolve_links(docname, path.parent, path.read_text().split("\n", 1)[1])  # the page has the title

    page = pathlib.Path(app.env.doc2path(docname))
    own = resolve_links(docname, page.parent, source[0]).replace("{commands}", commands())
    if "{summary}" in own:
        own = own.replace("{summary}", tables.summary(pages.read(pages.RECORDS / "cpython-3.11.json")))
    source[0] = re.sub(r"```\{include\} (.*)\n```\n", included, own)
    if source[0] == "{results}\n":
        source[0] = results(docname)
    source[0] = re.sub(r"^!\[([^]]+)\]\([./]*_static/(\w+)\.svg\)$", picture, source[0], flags=re.M)
    if DEVELOPMENT.match(docname):
        app.env.metadata[docname]["nosearch"] = True


def picture(match):
    """Return the light and the dark form of a picture, of which a page shows one."""
    files = {"light": f"/_static/{match[2]}.svg", "dark": f"/_static/{match[2]}-dark.svg"}
    return "\n".join(
        f":::{{image}} {path}\n:alt: {match[1]}\n:class: only-{name} picture\n:::\n" for name, path in files.items()
    )


def resolve_links(docname, folder, text):
    """Make links to files, relative to `folder`, links to pages; one to a file without a page becomes its text."""

    def resolved(match):
        label, target, anchor = match.groups()
        path = os.path.relpath(folder / target, ROOT)
        page = path[len("docs/") : -len(".md")] if re.fullmatch(r"docs/.*\.md", path) else PAGES.get(path)
        return f"[{label}](/{page}.md{anchor or ''})" if page else label

    return re.sub(r"(?<!!)\[([^]\n]*(?:\n[^]\n]*)?)\]\((?!https?:|/)([^)#\s]+)(#[^)\s]*)?\)", resolved, text)


def keep_tables(app, what, name, obj, options, lines):
    """Make what a module's docstring indents, its table of names, a literal block."""
    if what == "module":
        starts = [
            i
            for i in range(1, len(lines))
            if re.match(" {4}", lines[i]) and not lines[i - 1] and not lines[i - 2].endswith("::")
        ]
        inside = [i for i in starts if not re.match(" {4}", lines[i - 2])]  # a blank line ends no block
        for i in reversed(inside):
            lines[i:i] = ["::", ""]


def described(obj):
    """Return what finds the sentences that begin with names of parameters of `obj` and a colon, None without any."""
    try:
        names = "|".join(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return None
    return re.compile(rf"(?:^|(?<=[.;] ))((?:{names})(?:(?:, | and )(?:{names}))*): ") if names else None


def show_types(app, what, name, obj, options, signature, result):
    """Put into a signature the types of the parameters that the docstring does not list, and that of the result."""
    if what in ("module", "attribute", "property"):
        return None
    types, returned = TYPES.of(obj)
    start = described(obj)
    for paragraph in (inspect.getdoc(obj) or "").split("\n\n") if start else ():
        for each in start.finditer(" ".join(paragraph.split())):
            for parameter in re.split(", | and ", each[1]):
                types.pop(parameter, None)
    function = ast.parse(f"def f{re.sub('<.*?>', '...', signature or '()')}: pass").body[0]
    for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs, function.args.vararg):
        if each is not None and each.arg in types:
            each.annotation = ast.parse(types[each.arg], mode="eval").body
    return signature and f"({ast.unparse(function.args)})", returned


def list_parameters(app, what, name, obj, options, lines):
    """Make a list of what a docstring says of parameters: sentences that begin with a name of the signature."""
    start, text = described(obj), "\n".join(lines)
    types = TYPES.of(obj)[0] if start else {}
    for paragraph in text.split("\n\n") if start else ():
        said = " ".join(paragraph.split())
        found = list(start.finditer(said))
        if not found or paragraph.lstrip().startswith(">>>"):
            continue
        rest = re.search(r" (?=(?:Raises|Other options|The other options) )", said[found[-1].end() :])
        end_of_list = found[-1].end() + rest.start() if rest else len(said)
        items = [said[: found[0].start()].strip(), ""]
        for each, end in zip(found, [*(each.start() for each in found[1:]), end_of_list]):
            first, *others = names = re.split(", | and ", each[1])
            items.append(f":param {first}: {said[each.end() : end].strip()}")
            items += [f":param {other}: see `{first}`" for other in others]
            items += [f":type {each}: {types[each]}" for each in names if each in types]
        text = text.replace(paragraph, "\n".join([*items, "", said[end_of_list:].strip()]).strip())
    lines[:] = text.split("\n")


def link_types(app, env, node, content):
    """Link a type of another project to its page there."""
    url = signatures.address(node["reftarget"]) if node["refdomain"] == "py" else None
    return url and nodes.reference("", "", content, internal=False, refuri=url, reftitle=node["reftarget"])


def check_public_names(app, exception):
    """Raise ExtensionError if the reference lacks a public name."""
    missing = (
        public_names() - set(app.env.get_domain("py").objects) if app.builder.name == "html" and not exception else ()
    )
    if missing:
        raise ExtensionError(f"not in the reference: {', '.join(sorted(missing))}")


def setup(app):
    app.connect("source-read", include)
    app.connect("autodoc-process-docstring", keep_tables)
    app.connect("autodoc-process-signature", show_types)
    app.connect("autodoc-process-docstring", list_parameters)
    app.connect("missing-reference", link_types)
    app.connect("build-finished", check_public_names)
