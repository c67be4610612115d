#include "codegen/intrinsics.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace twinjit {
namespace {

struct Family {
  llvm::StringLiteral prefix;       // of the name, after "llvm.x86."
  llvm::StringLiteral needed;       // an instruction set
  llvm::StringLiteral instead = ""; // another that has the same instructions
};

// The first that fits holds. A family of AVX-512 beside the common ones counts as one more; those
// five came with one generation of CPUs, and are not told apart.
const Family kFamilies[] = {
    {"aadd", "raoint"},
    {"aand", "raoint"},
    {"aor", "raoint"},
    {"axor", "raoint"},
    {"aesdec128kl", "kl"},
    {"aesdec256kl", "kl"},
    {"aesenc128kl", "kl"},
    {"aesenc256kl", "kl"},
    {"encodekey", "kl"},
    {"loadiwkey", "kl"},
    {"aesdecwide", "widekl"},
    {"aesencwide", "widekl"},
    {"aesni.aesdec.256", "vaes"},
    {"aesni.aesdec.512", "vaes"},
    {"aesni.aesdeclast.256", "vaes"},
    {"aesni.aesdeclast.512", "vaes"},
    {"aesni.aesenc.256", "vaes"},
    {"aesni.aesenc.512", "vaes"},
    {"aesni.aesenclast.256", "vaes"},
    {"aesni.aesenclast.512", "vaes"},
    {"aesni.", "aes"},
    {"avx.", "avx"},
    {"avx10.", "avx10.2"},
    {"avx2.vpdpb", "avxvnniint8", "avx10.2"},
    {"avx2.vpdpw", "avxvnniint16", "avx10.2"},
    {"avx2.", "avx2"},
    {"avx512.permvar.qi", "avx512vbmi"},
    {"avx512.pmultishift", "avx512vbmi"},
    {"avx512.vpermi2var.qi", "avx512vbmi"},
    {"avx512.vp2intersect", "avx512vp2intersect"},
    {"avx512.vpdp", "avx512vnni", "avxvnni"},
    {"avx512.vpmadd52", "avx512ifma", "avxifma"},
    {"avx512.vpshufbitqmb", "avx512bitalg"},
    {"avx512bf16.", "avx512bf16", "avxneconvert"},
    {"avx512fp16.", "avx512fp16"},
    {"bmi.bextr", "bmi"},
    {"bmi.", "bmi2"},
    {"cldemote", "cldemote"},
    {"clflushopt", "clflushopt"},
    {"clrssbsy", "shstk"},
    {"clui", "uintr"},
    {"clwb", "clwb"},
    {"clzero", "clzero"},
    {"cmpccxadd", "cmpccxadd"},
    {"directstore", "movdiri"},
    {"enqcmd", "enqcmd"},
    {"fma.", "fma", "fma4"},
    {"incssp", "shstk"},
    {"invpcid", "invpcid"},
    {"llwpcb", "lwp"},
    {"lwp", "lwp"},
    {"slwpcb", "lwp"},
    {"mmx.palignr", "ssse3"},
    {"monitorx", "mwaitx"},
    {"mwaitx", "mwaitx"},
    {"movdir64b", "movdir64b"},
    {"movrs", "movrs"},
    {"prefetchrs", "movrs"},
    {"pclmulqdq.256", "vpclmulqdq"},
    {"pclmulqdq.512", "vpclmulqdq"},
    {"pclmulqdq", "pclmul"},
    {"ptwrite", "ptwrite"},
    {"rdfsbase", "fsgsbase"},
    {"rdgsbase", "fsgsbase"},
    {"wrfsbase", "fsgsbase"},
    {"wrgsbase", "fsgsbase"},
    {"rdpid", "rdpid"},
    {"rdpkru", "pku"},
    {"wrpkru", "pku"},
    {"rdpru", "rdpru"},
    {"rdrand", "rdrnd"},
    {"rdseed", "rdseed"},
    {"rdssp", "shstk"},
    {"rstorssp", "shstk"},
    {"saveprevssp", "shstk"},
    {"setssbsy", "shstk"},
    {"wrss", "shstk"},
    {"wruss", "shstk"},
    {"senduipi", "uintr"},
    {"stui", "uintr"},
    {"testui", "uintr"},
    {"serialize", "serialize"},
    {"sha1", "sha"},
    {"sha256", "sha"},
    {"sse3.", "sse3"},
    {"sse41.", "sse4.1"},
    {"sse42.crc32", "crc32"},
    {"sse42.", "sse4.2"},
    {"sse4a.", "sse4a"},
    {"ssse3.", "ssse3"},
    {"cast.", "amx-tile"},
    {"ldtilecfg", "amx-tile"},
    {"sttilecfg", "amx-tile"},
    {"tilemovrow", "amx-avx512"},
    {"tileloaddrs", "amx-movrs"},
    {"tile", "amx-tile"},
    {"tcmm", "amx-complex"},
    {"tcvtrow", "amx-avx512"},
    {"tdpbf16ps", "amx-bf16"},
    {"tdpbf8", "amx-fp8"},
    {"tdpbhf8", "amx-fp8"},
    {"tdphbf8", "amx-fp8"},
    {"tdphf8", "amx-fp8"},
    {"tdpfp16ps", "amx-fp16"},
    {"tdpb", "amx-int8"},
    {"tmmultf32", "amx-tf32"},
    {"tbm.", "tbm"},
    {"tpause", "waitpkg"},
    {"umonitor", "waitpkg"},
    {"umwait", "waitpkg"},
    {"urdmsr", "usermsr"},
    {"uwrmsr", "usermsr"},
    {"vbcstne", "avxneconvert"},
    {"vcvtnee", "avxneconvert"},
    {"vcvtneo", "avxneconvert"},
    {"vcvtneps2bf16", "avxneconvert", "avx512bf16"},
    {"vcvtps2ph", "f16c"},
    {"vgf2p8", "gfni"},
    {"vsha512", "sha512"},
    {"vsm3", "sm3"},
    {"vsm4", "sm4"},
    {"wbnoinvd", "wbnoinvd"},
    {"xabort", "rtm"},
    {"xbegin", "rtm"},
    {"xend", "rtm"},
    {"xtest", "rtm"},
    {"xop.", "xop"},
    {"xresldtrk", "tsxldtrk"},
    {"xsusldtrk", "tsxldtrk"},
    {"xrstors", "xsaves"},
    {"xsaves", "xsaves"},
    {"xsavec", "xsavec"},
    {"xsaveopt", "xsaveopt"},
    {"xsave", "xsave"},
    {"xrstor", "xsave"},
};
const llvm::StringLiteral kAvx512[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

} // namespace

llvm::StringRef lackedBy(llvm::StringRef intrinsic, llvm::ArrayRef<std::string> present) {
  auto has = [&](llvm::StringRef name) {
    return std::binary_search(present.begin(), present.end(), name);
  };
  if (!intrinsic.consume_front("llvm.x86."))
    return "";
  if (intrinsic.starts_with("avx512."))
    for (llvm::StringRef each : kAvx512)
      if (!has(each))
        return each;
  const Family *family = llvm::find_if(
      kFamilies, [&](const Family &each) { return intrinsic.starts_with(each.prefix); });
  bool lacks = family != std::end(kFamilies) && !has(family->needed) && !has(family->instead);
  return lacks ? llvm::StringRef(family->needed) : "";
}

} // namespace twinjit
