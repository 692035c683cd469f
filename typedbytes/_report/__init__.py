"""What the command says about records: lines of JSON and statistics."""
