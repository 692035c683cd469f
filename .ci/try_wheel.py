"""Try an installed typedbytes out: records as in the README, the vectors there and back, one job on this machine.

The argument is the folder of the sources, from which nothing is imported:
`typedbytes` must come from elsewhere. Needs only Python.
"""

import json
import pathlib
import sys
import tempfile

import typedbytes


def run_readme(root):
    """Run the last block of Python in the README, which needs only this package."""
    block = (root / "README.md").read_text("utf-8").rpartition("```python\n")[2].partition("```")[0]
    assert block
    exec(compile(block, "README.md", "exec"), {})


def check_vectors(root):
    """Decode and encode the vectors that hold in both directions; return how many."""
    nvectors = 0
    for path in sorted((root / "test_vectors" / "valid").glob("*.jsonl")):
        for line in path.read_text("ascii").splitlines():
            vector = json.loads(line)
            if vector["direction"] == "both":
                data = bytes.fromhex(vector["hex"])
                value = typedbytes.loads(data, **vector.get("decode", {}))
                assert typedbytes.dumps(value, **vector.get("encode", {})) == data, vector
                nvectors += 1
    assert nvectors
    return nvectors


def run_job(root):
    """Count words by the example."""
    from typedbytes import local, sequencefile  # local: not on Windows

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "rose.txt").write_text("a rose is a rose\n")
        local.run_script(
            str(root / "examples" / "wordcount.py"), inputs=str(folder / "rose.txt"), output=str(folder / "counts")
        )
        counts = dict(sequencefile.read(str(folder / "counts")))
        assert counts == {"a": 2, "rose": 2, "is": 1}, counts


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    assert root not in pathlib.Path(typedbytes.__file__).resolve().parents, typedbytes.__file__
    run_readme(root)
    print(f"Python {sys.version.split()[0]}: README, {check_vectors(root)} vectors, ", end="")
    if sys.platform == "win32":
        print("no job: local jobs need POSIX")
    else:
        run_job(root)
        print("one job")


if __name__ == "__main__":
    main()
