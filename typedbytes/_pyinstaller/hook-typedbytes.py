"""What PyInstaller cannot see: what compiled modules import, commands imported by name, Hadoop's plug-in."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = collect_submodules(
    "typedbytes", filter=lambda name: not name.startswith(("typedbytes.spark", "typedbytes._pyinstaller"))
)
datas = collect_data_files("typedbytes", includes=["**/*.jar"])
