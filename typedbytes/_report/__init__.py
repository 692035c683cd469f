"""Reports about records for the command: lines of JSON and statistics."""
