# What wire/compress.c never asks for is known not to be asked for when it is compiled: matches over
# long distances, blocks of chosen sizes, sequences made elsewhere, checksums, buffered streams.
s/[a-zA-Z>.-]*ldmParams\.enableLdm == ZSTD_ps_enable/0/
s/ZSTD_useTargetCBlockSize(&cctx->appliedParams)/0/
s/ZSTD_blockSplitterEnabled(&cctx->appliedParams)/0/
s/ZSTD_hasExtSeqProd([^)]*)/0/
s/zc->externSeqStore\.pos < zc->externSeqStore\.size/0/
s/[a-zA-Z>.-]*appliedParams\.fParams\.checksumFlag\( \&\& srcSize\)*)/0)/
s/[a-zA-Z>-]*appliedParams\.\(in\|out\)BufferMode == ZSTD_bm_buffered/0/
s/[a-zA-Z>-]*appliedParams\.\(in\|out\)BufferMode == ZSTD_bm_stable/1/
s/^\( *return \)ZSTD_splitBlock(.*/\1blockSizeMax;/
# A dictionary is always attached (ZSTD_c_forceAttachDict), and no context goes on from combo to combo.
s/ZSTD_compressBlock_fast_extDict/ZSTD_compressBlock_fast/
# A dictionary is attached, always, and made before: neither copied nor read for one combo; and the search is
# the fast one. 5 KB.
s/ZSTD_shouldAttachDict(cdict, params, pledgedSrcSize)/1/
/size_t const dictID = cdict ?/,/ZSTD_tfp_forCCtx, cctx->tmpWorkspace);/c\
    {   size_t const dictID = 0;
s/switch(params->cParams\.strategy)/switch(ZSTD_fast)/
# What it sets is known when it is compiled.
s/^size_t ZSTD_CCtxParams_setParameter(/__attribute__((always_inline)) &/
# Indexes begin anew with a combo 16 MB before they would overflow.
s/if (ZSTD_window_needOverflowCorrection(.*/if (0) {/
# Parameters are those of a level.
s/FORWARD_IF_ERROR( *ZSTD_checkCParams(params.cParams) *, "")/(void)0/
s/BOUNDCHECK(ZSTD_c_[a-zA-Z]*, \(value\|(int)pref\));/;/
