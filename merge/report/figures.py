# SPDX-License-Identifier: GPL-2.0
"""All figures of the page, in their order."""
import figures_air
import figures_clocks
import figures_sensors

ALL = (figures_clocks.offsets, figures_clocks.residuals, figures_sensors.together, figures_sensors.graph,
       figures_sensors.transmitters, figures_air.channels, figures_air.hearers, figures_sensors.alone, figures_air.retries)


def draw(stats):
    return [figure for figure in (make(stats) for make in ALL) if figure]
