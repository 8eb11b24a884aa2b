"""Settings that every test shares."""

from __future__ import annotations

import os
import tempfile

from hypothesis import HealthCheck, settings

# Nothing may be fetched while tests run.
os.environ["HF_HUB_OFFLINE"] = "1"

# Vectors that tests make are kept in a folder that is gone with them.
_CACHE = tempfile.TemporaryDirectory(prefix="chunkwise-")
os.environ["CHUNKWISE_CACHE"] = _CACHE.name

# What a test expects of vectors does not depend on which engine is installed, nor on a probe of it.
os.environ["CHUNKWISE_ENGINE"] = "onnxruntime"

# No deadline: machines differ, and no test is about time.
settings.register_profile("chunkwise", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("chunkwise")
