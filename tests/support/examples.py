"""How many examples a property has.

Invariant: a run with fewer of them, --hypothesis-profile=brief, has fewer of each property in proportion.
"""

from hypothesis import settings

USUAL = 100


def examples(number, **options):
    """Return settings with this many examples where a property of its own has 100."""
    return settings(max_examples=max(1, number * settings().max_examples // USUAL), **options)
