"""Jobs: their options, the session of Spark, and what is said of a result or a failure."""
