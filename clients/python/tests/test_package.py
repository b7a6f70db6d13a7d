import subprocess
import sys
from importlib.metadata import files, metadata
from pathlib import Path


def test_annotations(tmp_path):
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.stdout.startswith("Success: no issues found in 10 source files"), done.stdout + done.stderr


def test_contents():
    """The wheel has all modules, the marker of annotations and the licence."""
    source = Path(__file__).parents[1] / "src"
    expected = {str(file.relative_to(source)) for file in source.glob("pg_ulid/**/*") if file.suffix in (".py", ".typed")}
    installed = {str(file) for file in files("pg-ulid")}
    assert "pg_ulid/py.typed" in expected and expected <= installed
    assert any(name.endswith("/LICENSE") for name in installed)
    assert metadata("pg-ulid")["License-Expression"] == "MIT" and metadata("pg-ulid").get_all("Requires-Dist") is None
