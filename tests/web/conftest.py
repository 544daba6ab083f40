# SPDX-License-Identifier: GPL-2.0
"""The fixtures of the tests end to end."""
from netns.conftest import bed, stamps  # noqa: F401
