"""Render the conda recipe for every supported Python and system, as rattler-build does; nothing is fetched.

Fails for a recipe that rattler-build refuses; a test compares what it needs with pyproject.toml.
"""

import pathlib
import re

import tomllib
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECIPE = ROOT / ".ci/conda/recipe.yaml"
PLATFORMS = "linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"


def main():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(metadata["project"]["classifiers"]))
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
