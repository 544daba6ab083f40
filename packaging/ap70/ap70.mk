# SPDX-License-Identifier: GPL-2.0
# The sensor for the AP70 (docs/ap70.md): MIPS32 release 1 without a floating-point unit, both byte orders,
# static. Included by the Makefile, whose own rules then build the agent with this compiler, without the
# libraries that the AP70 does not have. What is fetched is in a cache that all clones share; which versions
# these are is known to fetch.py alone, which links them here.

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

AP70_LIBRARIES := libc_ap70.a libzstd.a libsodium.a

# Makes the sensor, and $(1), for each machine.
define ap70_make
	$(Q)set -e; for m in $(AP70_MACHINES); do $(MAKE) --no-print-directory AP70=$$m \
		BUILD=build/ap70/$$m WITHOUT="bpf pcap seccomp nl80211" CFLAGS="$(AP70_CFLAGS)" \
		AR="$(AP70_ZIG) ar" CC="$(AP70_ZIG) cc -target $$m-linux-musleabi -mcpu=mips32 -msoft-float" \
		LDFLAGS="$(AP70_LDFLAGS)" LIBS_COMMON="$(patsubst %,build/ap70/$$m/%,$(AP70_LIBRARIES))" \
		build/ap70/$$m/saluki $(1); done
endef

.PHONY: ap70 ap70-virtual ap70-test-programs deps-ap70
ap70: deps-ap70 ## build the sensor for the AP70 and other MIPS32: build/ap70/mips/saluki, .../mipsel/saluki
	+$(call ap70_make)

ap70-virtual: deps-ap70
	+$(call ap70_make,virtual)

ap70-test-programs: deps-ap70
	$(Q)$(PYTHON) packaging/ap70/fetch.py $(AP70_SOURCES) cmocka
	+$(call ap70_make,units virtual)

deps-ap70:
	$(call install_packages,$(PACKAGES_AP70))
	$(Q)$(PYTHON) packaging/ap70/fetch.py $(AP70_SOURCES) zig libzstd libsodium

ifdef AP70

# zig keeps what it made: its C library, which takes a minute, for all clones; our objects for this one.
export ZIG_GLOBAL_CACHE_DIR := $(or $(SALUKI_CACHE),$(HOME)/.cache/saluki)/zig-cache
export ZIG_LOCAL_CACHE_DIR := $(CURDIR)/build/ap70/zig-cache
# Warnings are errors, as there is one compiler; but musl's CMSG_NXTHDR compares signs, and what is atomic in
# 64 bits takes a lock here.
override CFLAGS += -Werror -Wno-sign-compare -Wno-atomic-alignment -I$(ZSTD_SOURCE) -I$(BUILD)/include
$(BUILD)/saluki $(BUILD)/tests/stages: $(LIBS_COMMON)
# Unit tests are linked the same way, so that they have the same instructions.
$(BUILD)/saluki $(BUILD)/tests/stages $(UNIT): private override CC := packaging/ap70/link.py $(CC)

# What a frame goes through is not compiled for size alone: 7 KB more, and a seventh fewer instructions a
# frame. With -O2 it were 14 KB, and no fewer.
AP70_FAST := $(patsubst %,$(BUILD)/%.o,agent/capture/capture agent/rings/packet_ring agent/source/source \
	agent/source/source_mmap wire/combo wire/fields wire/dot11_templates zstd/compress/fse_compress \
	zstd/compress/hist zstd/compress/huf_compress zstd/compress/zstd_compress_literals \
	zstd/compress/zstd_compress_sequences zstd/compress/zstd_fast sodium/crypto_onetimeauth/poly1305/donna/poly1305_donna \
	sodium/crypto_stream/chacha20/ref/chacha20_ref)
$(AP70_FAST): override CFLAGS := $(filter-out -Xclang -Oz,$(CFLAGS))

$(BUILD)/libc_ap70.a: $(BUILD)/libc.o $(BUILD)/printf.o
$(BUILD)/libc.o: packaging/ap70/libc.c packaging/ap70/ap70.mk
	$(call say,CC,$@)
	$(Q)$(CC) $(filter-out -flto,$(subst -Os -Xclang -Oz,-O2,$(CFLAGS))) -ffreestanding -c -o $@ $<
$(BUILD)/printf.o: packaging/ap70/printf.c packaging/ap70/ap70.mk
	$(call say,CC,$@)
	$(Q)$(CC) $(filter-out -flto,$(CFLAGS)) -fno-builtin -c -o $@ $<

# A library's source; one that has a script of its name here is edited by it first.
cut_script = $(wildcard packaging/ap70/$(*F).sed)
define library_object
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed -f $(or $(cut_script),/dev/null) $< > $(@:.o=.c)
	$(Q)$(CC) $(filter-out -W%,$(CFLAGS)) -w $(1) -iquote $(<D) -c -o $@ $(@:.o=.c)
endef

# Levels above 2 are level 2, as the search is; decompression is not used.
ZSTD_FLAGS := -DZSTD_CLEVEL_DEFAULT=2 -DXXH_NAMESPACE=ZSTD_ -DDYNAMIC_BMI2=0 -DZSTD_DISABLE_ASM -DZSTD_NOTRACE -I$(ZSTD_SOURCE) \
	$(patsubst %,-DZSTD_EXCLUDE_%_BLOCK_COMPRESSOR,DFAST GREEDY LAZY LAZY2 BTLAZY2 BTOPT BTULTRA)
ZSTD_OBJECTS := $(patsubst $(ZSTD_SOURCE)/%.c,$(BUILD)/zstd/%.o,$(wildcard $(ZSTD_SOURCE)/common/*.c \
	$(ZSTD_SOURCE)/compress/*.c))
$(BUILD)/libzstd.a: $(ZSTD_OBJECTS)
$(BUILD)/zstd/%.o: $(ZSTD_SOURCE)/%.c
	$(call library_object,$(ZSTD_FLAGS))
# A header beside the edited copy is found before the source's own.
$(BUILD)/zstd/compress/zstd_compress.o: $(BUILD)/zstd/compress/clevels.h
$(BUILD)/zstd/compress/clevels.h: $(ZSTD_SOURCE)/compress/clevels.h packaging/ap70/clevels.sed
	$(Q)mkdir -p $(@D)
	$(Q)sed -f packaging/ap70/clevels.sed $< > $@

# Without explicit_bzero() sodium_memzero() is a memset() that link-time optimisation takes out, and keys stay.
SODIUM_FLAGS := -DCONFIGURED -DNATIVE_$(if $(filter mips,$(AP70)),BIG,LITTLE)_ENDIAN -DHAVE_WEAK_SYMBOLS \
	-DHAVE_ATOMIC_OPS -DHAVE_NANOSLEEP -DHAVE_EXPLICIT_BZERO -DHAVE_C_VARARRAYS -I$(BUILD)/include/sodium -I$(SODIUM_SOURCE)
SODIUM_OBJECTS := $(patsubst %,$(BUILD)/sodium/%.o,$(addprefix crypto_aead/chacha20poly1305/sodium/, \
		aead_chacha20poly1305) $(addprefix crypto_stream/chacha20/,stream_chacha20 ref/chacha20_ref) \
	$(addprefix crypto_onetimeauth/poly1305/,onetimeauth_poly1305 donna/poly1305_donna) \
	$(addprefix crypto_generichash/,crypto_generichash $(addprefix blake2b/,generichash_blake2 \
		$(addprefix ref/,blake2b-compress-ref blake2b-ref generichash_blake2b))) \
	$(addprefix crypto_scalarmult/,crypto_scalarmult curve25519/scalarmult_curve25519) \
	$(addprefix crypto_shorthash/,crypto_shorthash siphash24/ref/shorthash_siphash24_ref) \
	crypto_verify/sodium/verify randombytes/randombytes randombytes/sysrandom/randombytes_sysrandom \
	$(addprefix sodium/,core runtime utils codecs)) $(BUILD)/sodium/x25519.o
$(BUILD)/libsodium.a: $(SODIUM_OBJECTS)
$(BUILD)/sodium/%.o: $(SODIUM_SOURCE)/%.c
	$(call library_object,$(SODIUM_FLAGS))
POLY1305 := crypto_onetimeauth/poly1305/donna/poly1305_donna
$(BUILD)/sodium/$(POLY1305).o: $(BUILD)/sodium/$(POLY1305)32.h
$(BUILD)/sodium/$(POLY1305)32.h: $(SODIUM_SOURCE)/$(POLY1305)32.h packaging/ap70/poly1305_donna32.sed
	$(Q)mkdir -p $(@D)
	$(Q)sed -f packaging/ap70/poly1305_donna32.sed $< > $@
$(BUILD)/sodium/x25519.o: packaging/ap70/sodium.c
	$(call library_object,$(SODIUM_FLAGS))

# With what configure would make; the authors have made one themselves, where there is no configure.
$(BUILD)/include/sodium/version.h: $(AP70_SOURCES)/libsodium/builds/msvc/version.h packaging/ap70/fetch.py
	$(Q)mkdir -p $(@D)
	$(Q)cp -r $(SODIUM_SOURCE)/include/. $(BUILD)/include
	$(Q)cp $< $@

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

# Flags are above, versions in fetch.py, and what is cut in the scripts: what was made with others is made anew.
$(AGENT) $(SHARED) $(COLLECTOR) $(UNIT:%=%.o) $(ZSTD_OBJECTS) $(UNZSTD_OBJECTS) $(SODIUM_OBJECTS): \
	packaging/ap70/ap70.mk packaging/ap70/fetch.py packaging/ap70/link.py packaging/ap70/ap70.ld $(wildcard packaging/ap70/*.sed) | $(BUILD)/include/sodium/version.h

endif
