"""The tests of a real Spark are those of `make spark`, which has one; the suite has none."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("pyspark") else ["cluster.py", "jobs.py", "sessions.py"]
