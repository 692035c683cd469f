"""What PyInstaller cannot see: modules that compiled ones import, commands that are imported by name, and Hadoop's plug-in."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = collect_submodules(
    "typedbytes", filter=lambda name: not name.startswith(("typedbytes.spark", "typedbytes._pyinstaller"))
)
datas = collect_data_files("typedbytes", includes=["**/*.jar"])
