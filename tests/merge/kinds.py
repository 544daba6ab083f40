# SPDX-License-Identifier: GPL-2.0
"""The classes of transmissions that the judge tells apart, and the bits of the column `flags`."""

BEACON, MGMT, DATA, RETRY, ACK, CTS, RTS, BLOCK_ACK, NULL, BAD_FCS = range(10)
NAMES = ("beacon", "mgmt", "data", "retry", "ack", "cts", "rts", "ba", "null", "badfcs")
FIRST_ATTEMPTS = (BEACON, MGMT, DATA, BLOCK_ACK)

# The flags of a reception in the merge's table.
FLAGS = {"late": 1, "bad_fcs": 2, "ambiguous": 4, "unaligned": 8, "off": 16, "unsettled": 32}
