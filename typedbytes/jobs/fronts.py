"""The older libraries whose scripts run unchanged, by the names of typedbytes.fronts, and how their jobs differ."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FRONTS", "Front"]


class Front:
    """What differs in the jobs of a library.

    reads_in_order: the values of a key are in the order of the inputs; writes_lines: of text, without --output-format.
    step_folder: the name of a folder with the output of a step, by its number from 1, and that from 0.
    for_hadoop: parts of the names of properties that have an effect in Hadoop alone, where tasks exchange lines.
    """

    __slots__ = ("_step_folder", "for_hadoop", "reads_in_order", "writes_lines")

    def __init__(
        self,
        reads_in_order: bool = False,
        writes_lines: bool = False,
        for_hadoop: tuple[str, ...] = (),
        step_folder: str = "step{0}",
    ) -> None:
        self.reads_in_order: bool = reads_in_order
        self.writes_lines: bool = writes_lines
        self.for_hadoop: tuple[str, ...] = for_hadoop
        self._step_folder = step_folder

    def step_folder(self, number: int) -> str:
        """Return the name of the folder in which the output of a step is kept, by its number from 1."""
        return self._step_folder.format(number, number - 1)

    def properties_here(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Return the properties that have an effect outside Hadoop."""
        return {name: value for name, value in properties.items() if not any(each in name for each in self.for_hadoop)}


FRONTS: dict[str, Front] = {
    "mrjob": Front(True, True, ("comparator", "partition", "stream."), "{1:04}"),
    "dumbo": Front(), "hadoopy": Front(), "pydoop": Front(),
}  # fmt: skip
