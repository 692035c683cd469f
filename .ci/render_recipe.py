"""Render the conda recipe for every supported Python and system, as rattler-build does; nothing is fetched.

Fails for a recipe that rattler-build refuses, and where what it needs differs from pyproject.toml.
"""

import pathlib
import re

import tomllib
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECIPE = ROOT / ".ci/conda/recipe.yaml"
PLATFORMS = "linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"


def check_needs(recipe, metadata):
    """Compare the versions that the recipe needs with those of pyproject.toml."""
    needs = [*metadata["build-system"]["requires"], *metadata["project"]["dependencies"]]
    needs += [need for extra in metadata["project"]["optional-dependencies"].values() for need in extra]
    needs = {need.partition(";")[0].strip() for need in needs if not need.startswith("typedbytes[")}
    named = {f"{name}{bounds}" for name, bounds in re.findall(r"^ +- ([\w.-]+) ([<>=]\S+)$", recipe, re.M)}
    assert named == needs, named.symmetric_difference(needs)
    assert f'version: "{metadata["project"]["version"]}"' in recipe
    scripts = [f"{name} = {function}" for name, function in metadata["project"]["scripts"].items()]
    assert all(f"- {script}\n" in recipe for script in scripts), scripts


def main():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(metadata["project"]["classifiers"]))
    check_needs(RECIPE.read_text(), metadata)
    recipe = Stage0Recipe.from_file(RECIPE)
    for platform in PLATFORMS:
        compilers = {"c_compiler": ["vs2022" if platform.startswith("win") else "gcc"], "c_stdlib": ["sysroot"]}
        config = RenderConfig(
            PlatformConfig(target_platform=platform, build_platform="linux-64", host_platform=platform)
        )
        rendered = recipe.render(
            VariantConfig(
                {"python": [f"{version}.* *_cp{version.replace('.', '')}" for version in pythons], **compilers}
            ),
            config,
        )
        names = [variant.recipe.package.name for variant in rendered]
        assert names == ["typedbytes"] * len(pythons), names
        print(f"{platform}: rendered for Python {', '.join(pythons)}")


if __name__ == "__main__":
    main()
