"""The names of mrjob, by typedbytes: jobs, steps and protocols run as they are, on this machine, Hadoop and Spark."""

__version__ = "0.7.4"  # the version of mrjob whose public API this is
