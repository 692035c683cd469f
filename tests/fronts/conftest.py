"""Scripts of other libraries are no modules of tests: they find their imports when a front runs them."""

collect_ignore = ["scripts"]
