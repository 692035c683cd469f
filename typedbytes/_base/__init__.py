"""What every package may use: exit codes, formats known by their first bytes, compression, atomic files, secrets."""
