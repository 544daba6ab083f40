# SPDX-License-Identifier: GPL-2.0
# In place of OpenWrt's rules.mk, for this machine: the part that our recipe uses.
INCLUDE_DIR := $(TOPDIR)/include
TARGET_CC := gcc
TARGET_AR := ar
TARGET_CFLAGS := -O1
TARGET_CPPFLAGS :=
TARGET_LDFLAGS :=
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
INSTALL_CONF := install -m0600
