"""What tests share: values, files, processes, other programs, references. Not here: what a test expects."""
