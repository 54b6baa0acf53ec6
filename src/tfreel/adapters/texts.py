"""Which features are text: records do not say it, their values do."""

from __future__ import annotations

from tfreel.inference import InferredFeatures

_TEXTS = frozenset({"text", "empty"})


def texts_in(found: InferredFeatures) -> frozenset[str]:
    """The features of bytes that were text wherever one looked."""
    profiles = {**found.profiles, **found.sequence_profiles}
    return frozenset(
        name
        for name, profile in profiles.items()
        if set(profile.kinds) == {"bytes"} and _TEXTS.issuperset(profile.contents)
    )
