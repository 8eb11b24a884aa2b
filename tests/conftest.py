"""Settings that every test shares."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Nothing may be fetched while tests run.
os.environ["HF_HUB_OFFLINE"] = "1"

# No deadline: machines differ, and no test is about time.
settings.register_profile("chunkwise", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("chunkwise")
