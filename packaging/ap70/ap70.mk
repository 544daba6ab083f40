# SPDX-License-Identifier: GPL-2.0
# The sensor for the AP70 (docs/ap70.md): MIPS32 release 1 without a floating-point unit, both byte orders,
# static. Included by the Makefile, whose own rules then build the agent with this compiler, without the
# libraries that the AP70 does not have. zstd and libsodium are compiled where they were unpacked, as their
# authors published them. The C library is zig's musl. fetch.py knows their versions, keeps them in a cache that
# all clones share, and links them here.

AP70_SOURCES := build/ap70/sources
AP70_ZIG := $(AP70_SOURCES)/zig/zig
ZSTD_SOURCE := $(AP70_SOURCES)/libzstd/lib
SODIUM_SOURCE := $(AP70_SOURCES)/libsodium/src/libsodium
CMOCKA_SOURCE := $(AP70_SOURCES)/cmocka
PACKAGES_AP70 := python3 python3-venv
AP70_MACHINES := mips mipsel
# zig knows -Os and not -Oz, its compiler does.
AP70_CFLAGS := -Os -Xclang -Oz -flto -fomit-frame-pointer -fno-sanitize=undefined -ffunction-sections \
	-fdata-sections -fno-unwind-tables -fno-asynchronous-unwind-tables
AP70_LDFLAGS := -static -s -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,-z,stack-size=131072 -Wl,-T,packaging/ap70/ap70.ld

AP70_LIBRARIES := libmemory.a libzstd.a libsodium.a

# Makes the sensor, and $(2), for each of the machines $(1).
define ap70_make
	$(Q)set -e; for m in $(1); do $(MAKE) --no-print-directory AP70=$$m \
		BUILD=build/ap70/$$m WITHOUT="bpf pcap seccomp nl80211" CFLAGS="$(AP70_CFLAGS)" \
		AR="$(AP70_ZIG) ar" CC="$(AP70_ZIG) cc -target $$m-linux-musleabi -mcpu=mips32 -msoft-float" \
		LDFLAGS="$(AP70_LDFLAGS)" LIBS_COMMON="$(patsubst %,build/ap70/$$m/%,$(AP70_LIBRARIES))" \
		build/ap70/$$m/saluki $(2); done
endef

.PHONY: ap70 ap70-virtual ap70-test-programs deps-ap70
ap70: deps-ap70 ## build the sensor for the AP70 and other MIPS32: build/ap70/mips/saluki, .../mipsel/saluki
	+$(call ap70_make,$(AP70_MACHINES))

ap70-virtual: deps-ap70
	+$(call ap70_make,mips,virtual)

# Big-endian only: the tests for x86_64 are little-endian, and words have 32 bits in both machines.
ap70-test-programs: ap70
	$(Q)$(PYTHON) packaging/ap70/fetch.py $(AP70_SOURCES) cmocka
	+$(call ap70_make,mips,units virtual)

deps-ap70:
	$(call install_packages,$(PACKAGES_AP70))
	$(Q)$(PYTHON) packaging/ap70/fetch.py $(AP70_SOURCES) zig libzstd libsodium

ifdef AP70

# zig keeps what it made: its C library, which takes a minute, for all clones; our objects for this one.
export ZIG_GLOBAL_CACHE_DIR := $(or $(SALUKI_CACHE),$(HOME)/.cache/saluki)/zig-cache
export ZIG_LOCAL_CACHE_DIR := $(CURDIR)/build/ap70/zig-cache
# Warnings are errors, as there is one compiler; but musl's CMSG_NXTHDR compares signs, and what is atomic in
# 64 bits takes a lock here.
override CFLAGS += -Werror -Wno-sign-compare -Wno-atomic-alignment -I$(ZSTD_SOURCE) -I$(SODIUM_SOURCE)/include -I$(BUILD)/include
$(BUILD)/saluki $(BUILD)/tests/stages: $(LIBS_COMMON)
# Unit tests are linked the same way, so that they have the same instructions.
$(BUILD)/saluki $(BUILD)/tests/stages $(UNIT): private override CC := packaging/ap70/link.py $(CC)

# Code that each frame runs is not compiled for size alone; but wire/combo is: 6 KB less for 1 % more instructions.
AP70_FAST := $(patsubst %,$(BUILD)/%.o,agent/capture/capture agent/rings/packet_ring agent/source/source \
	agent/source/source_mmap wire/fields wire/dot11_templates zstd/compress/zstd_fast \
	sodium/crypto_onetimeauth/poly1305/donna/poly1305_donna sodium/crypto_stream/chacha20/ref/chacha20_ref)
$(AP70_FAST): override CFLAGS := $(filter-out -Xclang -Oz,$(CFLAGS))

$(BUILD)/libmemory.a: $(BUILD)/memory.o
$(BUILD)/memory.o: packaging/ap70/memory.c packaging/ap70/ap70.mk
	$(call say,CC,$@)
	$(Q)$(CC) $(filter-out -flto,$(subst -Os -Xclang -Oz,-O2,$(CFLAGS))) -ffreestanding -c -o $@ $<

define library_object
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -W%,$(CFLAGS)) -w $(1) -c -o $@ $<
endef

# zstd's own switches (lib/README.md): ZSTD_LIB_MINIFY's, and the fast compressor alone. The other levels' tables
# stay, so each level above 2 compresses as the fast one does.
ZSTD_FLAGS := -DXXH_NAMESPACE=ZSTD_ -DDEBUGLEVEL=0 -DNDEBUG -DDYNAMIC_BMI2=0 -DZSTD_NO_INLINE -DZSTD_STRIP_ERROR_STRINGS \
	-DZSTD_NOTRACE $(patsubst %,-DZSTD_EXCLUDE_%_BLOCK_COMPRESSOR,DFAST GREEDY LAZY LAZY2 BTLAZY2 BTOPT BTULTRA) \
	-I$(ZSTD_SOURCE)
ZSTD_OBJECTS := $(patsubst $(ZSTD_SOURCE)/%.c,$(BUILD)/zstd/%.o,$(wildcard $(ZSTD_SOURCE)/common/*.c \
	$(ZSTD_SOURCE)/compress/*.c))
$(BUILD)/libzstd.a: $(ZSTD_OBJECTS)
$(BUILD)/zstd/%.o: $(ZSTD_SOURCE)/%.c
	$(call library_object,$(ZSTD_FLAGS))

# These are the macros that configure would find. Without explicit_bzero(), which musl has, link-time optimisation
# would remove the memset() of sodium_memzero(), and keys would stay in memory (tests/unit/test_wiped.c).
SODIUM_FLAGS := -DCONFIGURED -DNATIVE_$(if $(filter mips,$(AP70)),BIG,LITTLE)_ENDIAN -DHAVE_WEAK_SYMBOLS \
	-DHAVE_ATOMIC_OPS -DHAVE_NANOSLEEP -DHAVE_EXPLICIT_BZERO -DHAVE_C_VARARRAYS \
	-I$(SODIUM_SOURCE)/include/sodium -I$(BUILD)/include/sodium
# The source has each of BLAKE2b's 96 steps written out: 23 KB, though it only derives keys. The outliner makes
# functions of equal steps, if no earlier pass has made them different: 12 KB less.
$(BUILD)/sodium/crypto_generichash/blake2b/ref/blake2b-compress-ref.o: override CFLAGS += -mllvm -ir-outliner \
	-mllvm -opt-disable=sroa,early-cse,gvn,instcombine
SODIUM_OBJECTS := $(patsubst $(SODIUM_SOURCE)/%.c,$(BUILD)/sodium/%.o,$(shell find $(SODIUM_SOURCE)/ -name '*.c'))
$(BUILD)/libsodium.a: $(SODIUM_OBJECTS)
$(BUILD)/sodium/%.o: $(SODIUM_SOURCE)/%.c
	$(call library_object,$(SODIUM_FLAGS))

# configure would make this header. libsodium has one for Windows, where there is no configure. It includes
# export.h, so both are copied.
$(BUILD)/include/sodium/version.h: $(AP70_SOURCES)/libsodium/builds/msvc/version.h packaging/ap70/ap70.mk
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $(SODIUM_SOURCE)/include/sodium/export.h $(@D)

# What the virtual one has besides the sensor (tests/ap70).
.PHONY: virtual
virtual: $(addprefix $(BUILD)/tests/,play old_kernel newer_calls hog monitor spent loop bare \
	stages)

# For the unit tests: what they are written with, and decompression.
LIB_CMOCKA := $(BUILD)/libcmocka.a
$(UNIT): $(LIB_CMOCKA) $(LIBS_COMMON)
$(UNIT:%=%.o): override CFLAGS += -I$(CMOCKA_SOURCE)/include
$(BUILD)/libcmocka.a: $(BUILD)/cmocka/cmocka.o
$(BUILD)/cmocka/%.o: $(CMOCKA_SOURCE)/src/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -W%,$(CFLAGS)) -w -I$(CMOCKA_SOURCE)/include -DHAVE_SIGNAL_H -DHAVE_STRSIGNAL \
		-DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME -DHAVE_GCC_THREAD_LOCAL_STORAGE -c -o $@ $<
UNZSTD_OBJECTS := $(patsubst $(ZSTD_SOURCE)/%.c,$(BUILD)/zstd/%.o,$(wildcard $(ZSTD_SOURCE)/decompress/*.c))
$(addprefix $(BUILD)/tests/,unit/test_compress unit/test_session_receive stages): $(UNZSTD_OBJECTS)

# These files have the flags and versions: when one changes, everything is compiled again.
$(AGENT) $(SHARED) $(COLLECTOR) $(UNIT:%=%.o) $(ZSTD_OBJECTS) $(UNZSTD_OBJECTS) $(SODIUM_OBJECTS): \
	packaging/ap70/ap70.mk packaging/ap70/fetch.py packaging/ap70/link.py packaging/ap70/ap70.ld | $(BUILD)/include/sodium/version.h

endif
