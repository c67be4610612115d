"""Each distinct program is compiled once: the tiers, the two-step lookup, and what makes a miss."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import mlir.ir
import numpy as np
import pytest

import twinjit
from twinjit.errors import ParseError, UnsupportedProgramError

EXAMPLES = Path(__file__).parent.parent / "examples"

TEXT = "func.func @f(%x: i64) -> i64 {\n  %y = arith.addi %x, %x : i64\n  return %y : i64\n}\n"
RENAMED = TEXT.replace("%x", "%argument").replace("  ", "      ")
OTHER = TEXT.replace("addi", "muli")


def live(text, context=None):
    with context or mlir.ir.Context():
        return mlir.ir.Module.parse(text)


def tier(compiler, program):
    return compiler.compile(program).report.tier


# Tiers


def test_second_time_is_the_first_executable(compiler):
    first, second = compiler.compile(TEXT), compiler.compile(TEXT)
    assert (first.report.tier, second.report.tier) == ("compiled", "memory")
    assert first == second
    assert first.f is second.f
    assert second.f(21) == 42


def test_disk_after_memory_is_cleared(compiler):
    compiler.compile(TEXT)
    compiler.clear_memory()
    assert tier(compiler, TEXT) == "disk"
    assert tier(compiler, TEXT) == "memory"


@pytest.mark.parametrize("cache", [False, None, "off"])
def test_no_store(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert twinjit.Compiler(cache=cache).compile(TEXT).f(2) == 4
    assert list(tmp_path.iterdir()) == []


def test_explanation_reads_well(compiler):
    compiler.compile(TEXT)
    lines = str(compiler.explain(TEXT)).splitlines()
    assert lines[0].startswith("mlir: ")
    assert "opt-level: 3" in lines
    assert lines[-1] == "would be a hit in memory, direct"


def test_without_disk(tmp_path):
    compiler = twinjit.Compiler(cache=False)
    assert tier(compiler, TEXT) == "compiled"
    assert not compiler.compile(OTHER).report.cached
    again = compiler.compile(TEXT).report
    assert (again.tier, again.cached) == ("memory", False)
    compiler.clear_memory()
    assert tier(compiler, TEXT) == "compiled"


def test_reformatted_text_meets_the_same_key(compiler):
    first = compiler.compile(TEXT)
    assert not compiler.explain(RENAMED).direct
    second = compiler.compile(RENAMED)
    assert second.report.tier == "memory"
    assert second.key == first.key
    assert compiler.explain(RENAMED).direct


def test_every_form_of_a_program_is_one_program(compiler, tmp_path):
    compiler.compile(TEXT)
    module = live(TEXT)
    bytecode = tmp_path / "f.mlirbc"
    with bytecode.open("wb") as file:
        module.operation.write_bytecode(file)
    text = tmp_path / "f.mlir"
    text.write_text(RENAMED)
    (function,) = module.body.operations
    forms = [module, module.operation, function, live(RENAMED), bytecode, str(bytecode), text,
             bytecode.read_bytes(), TEXT.encode()]  # fmt: skip
    for form in forms:
        assert tier(compiler, form) == "memory"


def test_other_programs_and_options_miss(compiler, tmp_path):
    compiler.compile(TEXT)
    assert tier(compiler, OTHER) == "compiled"
    store = compiler.store.root
    assert tier(twinjit.Compiler(cache=store, opt_level=0), TEXT) == "compiled"
    assert tier(twinjit.Compiler(cache=store, pipeline="linalg"), TEXT) == "compiled"
    host = twinjit.Target.host()
    older = twinjit.Target(host.triple, "x86-64-v2" if "x86" in host.triple else host.cpu, "")
    assert tier(twinjit.Compiler(cache=store, target=older), TEXT) == "compiled"
    assert tier(twinjit.Compiler(cache=store), TEXT) == "disk"


def test_auto_and_its_choice_share_the_artifact(compiler):
    compiler.compile(TEXT)
    assert tier(twinjit.Compiler(cache=compiler.store.root, pipeline="std"), TEXT) == "disk"


def test_memory_is_bounded(tmp_path):
    settings = twinjit.Settings(memory_max_bytes=20_000)
    compiler = twinjit.Compiler(cache=False, settings=settings)
    texts = [TEXT.replace("@f", f"@f{i}") for i in range(20)]
    kept = compiler.compile(texts[0])
    for text in texts:
        compiler.compile(text)
    assert compiler.stats()["code_bytes"] <= 20_000
    assert tier(compiler, texts[0]) == "compiled"  # evicted
    assert kept.f0(4) == 8  # and still valid for who holds it


NEW_PROCESS = """
import sys
import twinjit
exe = twinjit.compile(open(sys.argv[1]).read())
assert exe.f(21) == 42
print(exe.report.tier, any("_mlir" in name for name in sys.modules), "numpy" in sys.modules)
"""


def in_new_process(path):
    return subprocess.run(
        [sys.executable, "-c", NEW_PROCESS, path], check=True, capture_output=True, text=True
    ).stdout.split()


@pytest.mark.usefixtures("hits_unchecked")
def test_new_process_hits_without_mlir(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    assert in_new_process(path)[:2] == ["compiled", "True"]
    assert in_new_process(path) == ["disk", "False", "False"]
    path.write_text(RENAMED)
    assert in_new_process(path)[:2] == ["disk", "True"]  # parsed to learn its key
    assert in_new_process(path) == ["disk", "False", "False"]


# Live modules


def test_live_module_is_not_modified(compiler):
    text = """
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %a, %a : tensor<4xf32> loc("here.py":3:4)
      return %0 : tensor<4xf32>
    }
    """
    module = live(text)
    before = module.operation.get_asm(enable_debug_info=True)
    executable = compiler.compile(module)
    assert module.operation.get_asm(enable_debug_info=True) == before
    assert module.operation.verify()
    np.testing.assert_array_equal(executable.f(np.ones(4, np.float32)), np.full(4, 2, np.float32))


def test_live_module_that_changes_is_another_program(compiler):
    module = live(TEXT)
    compiler.compile(module)
    with module.context:
        (function,) = module.body.operations
        function.attributes["sym_name"] = mlir.ir.StringAttr.get("g")
    executable = compiler.compile(module)
    assert executable.report.tier == "compiled"
    assert executable.g(4) == 8


def test_live_module_of_a_single_threaded_context(compiler):
    context = mlir.ir.Context()
    context.enable_multithreading(False)
    assert compiler.compile(live(TEXT, context)).f(1) == 2


def test_nothing_but_a_program_is_taken(compiler):
    for thing in (None, 3, object(), ["module {}"]):
        with pytest.raises(UnsupportedProgramError):
            compiler.compile(thing)


def test_single_function_with_callee_elsewhere(compiler):
    module = live(TEXT + "func.func @g(%x: i64) -> i64 {\n"
                         "  %y = call @f(%x) : (i64) -> i64\n  return %y : i64\n}\n")  # fmt: skip
    _, g = module.body.operations
    with pytest.raises(twinjit.errors.VerificationError, match="'f'"):
        compiler.compile(g)


# Programs without an identity


def unidentifiable():
    text = """func.func @f() -> tensor<2xi32> {
      %0 = arith.constant dense<[1, 2]> : tensor<2xi32>
      return %0 : tensor<2xi32>
    }"""
    module = live(text)
    with module.context:
        module.operation.attributes["arith.missing"] = mlir.ir.Attribute.parse(
            "dense_resource<nowhere> : tensor<2xi32>"
        )
    return module


def test_unidentifiable_program_runs_uncached(compiler):
    module = unidentifiable()
    executable = compiler.compile(module)
    assert executable.report.tier == "compiled"
    assert not executable.report.cached
    assert compiler.stats()["uncacheable"] == 1
    np.testing.assert_array_equal(executable.f(), [1, 2])


def test_pipeline_that_reads_files_is_never_cached(tmp_path):
    library = tmp_path / "library.mlir"
    pipeline = (f"builtin.module(transform-preload-library{{transform-library-paths={library}}},"
                f"transform-interpreter,{twinjit.NAMED_PIPELINES['std'].text[15:]}")  # fmt: skip
    compiler = twinjit.Compiler(cache=tmp_path / "store", pipeline=pipeline)
    for _ in range(2):
        library.write_text(
            "module attributes {transform.with_named_sequence} {\n"
            "transform.named_sequence @__transform_main(%m: !transform.any_op) {\n"
            "  transform.yield\n}}"
        )
        assert compiler.compile(TEXT).report.tier == "compiled"
    assert compiler.stats()["uncacheable"] == 2
    # What the pass left in its context does not reach others.
    other = twinjit.Compiler(
        cache=False, pipeline=f"transform-interpreter,{twinjit.NAMED_PIPELINES['std'].text[15:-1]}"
    )
    with pytest.raises(twinjit.errors.PipelineError):
        other.compile(TEXT)


def test_options_of_registered_pipelines_count(tmp_path):
    text = "func.func @f() { return }"
    keys = {
        twinjit.Compiler(cache=False, pipeline=pipeline).explain(text).key
        for pipeline in ("sparsifier", "sparsifier{enable-runtime-library=false}", " sparsifier ")
    }
    assert len(keys) == 2


def test_bytes_shared_by_threads_keep_their_count():
    data = TEXT.encode()
    before = sys.getrefcount(data)
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(300):
            twinjit.fingerprint(data)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrefcount(data) == before


def test_large_constants_do_not_stay_in_pooled_contexts():
    script = textwrap.dedent("""
    import twinjit
    def resident():
        for line in open("/proc/self/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    def compile(seed):
        data = bytes((seed * 31 + i) % 251 for i in range(1 << 16)).hex() * 64
        text = f'func.func @f() -> tensor<1048576xi32> {{ %0 = arith.constant dense<"0x{data}"> : tensor<1048576xi32> return %0 : tensor<1048576xi32> }}'
        twinjit.fingerprint(text)
    for seed in range(4):
        compile(seed)
    before = resident()
    for seed in range(4, 24):
        compile(seed)
    print(resident() - before)
    """)  # noqa: E501 -- one line of MLIR
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout
    assert float(printed) < 40  # 20 constants of 4 MiB


def test_default_compilers_are_kept_by_their_options():
    one = twinjit.default_compiler(opt_level=1, cache=False)
    assert twinjit.default_compiler(cache=False, opt_level=1) is one
    assert twinjit.default_compiler(cache=False, opt_level=2) is not one
    with pytest.raises(twinjit.errors.ConfigError):
        twinjit.default_compiler(cache=[1])


# Threads


def test_threads_compile_a_program_once(compiler):
    barrier = threading.Barrier(8)
    results = []

    def work():
        barrier.wait()
        results.append(compiler.compile(TEXT))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each.f) for each in results}) == 1
    assert compiler.stats()["compiled"] == 1
    assert compiler.stats()["memory"] == 7


def test_other_threads_run_while_a_program_compiles():
    text = (EXAMPLES / "encoder.mlir").read_text()
    reports = []
    compiler = twinjit.Compiler(cache=False)
    worker = threading.Thread(target=lambda: reports.append(compiler.compile(text).report))
    longest, last = 0.0, time.perf_counter()
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    # Whoever held the GIL through a native phase would have stopped this loop for as long.
    assert longest < max(reports[0].phases.values()) / 2


def test_first_use_of_llvm_by_many_threads():
    script = textwrap.dedent("""
    import sys, threading, twinjit
    host = twinjit.Target.host()
    barrier = threading.Barrier(8)
    def work(index):
        target = twinjit.Target(host.triple, "x86-64-v2", "") if index % 2 else host
        barrier.wait()
        assert twinjit.Compiler(cache=False, target=target).compile(sys.argv[1]).f(21) == 42
        done.append(index)
    done = []
    threads = [threading.Thread(target=work, args=[index]) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(done))
    """)
    for _ in range(3):
        printed = subprocess.run(
            [sys.executable, "-c", script, TEXT], check=True, capture_output=True, text=True
        ).stdout
        assert printed.strip() == str(list(range(8)))


# The key


def test_key_names_its_parts(compiler):
    names = [name for name, _ in compiler.explain(TEXT).key.parts]
    assert names == [
        "mlir", "pipeline", "policy", "convention", "opt-level", "target-triple", "target-cpu",
        "target-features", "relocation-model", "code-model", "build-libLLVM", "build-libMLIR",
        "build-_llvm", "build-_mlir",
    ]  # fmt: skip
    assert all(value for _, value in compiler.explain(TEXT).key.parts)


def test_explain_says_where_it_would_hit(compiler):
    assert compiler.explain(TEXT).tier == "compiled"
    compiler.compile(TEXT)
    explanation = compiler.explain(TEXT)
    assert (explanation.tier, explanation.direct) == ("memory", True)
    compiler.clear_memory()
    assert compiler.explain(TEXT).tier == "disk"


def test_would_hit_is_true_if_and_only_if_compile_hits(compiler, tmp_path):
    assert not compiler.would_hit(TEXT)
    assert not compiler.would_hit(TEXT)  # asking changes nothing
    compiler.compile(TEXT)
    for program in (TEXT, RENAMED, live(TEXT), TEXT.encode()):
        assert compiler.would_hit(program)
    assert not compiler.would_hit(OTHER)
    compiler.clear_memory()
    assert compiler.would_hit(TEXT)
    other = twinjit.Compiler(cache=tmp_path / "store")
    assert other.would_hit(RENAMED)
    assert other.stats()["disk"] == 0
    assert other.store.stats().hits == other.store.stats().misses == 0
    (entry,) = other.store.entries()
    Path(entry.path).write_bytes(Path(entry.path).read_bytes()[:-1])
    assert not other.would_hit(TEXT)
    assert Path(entry.path).exists()  # for `compile` to find, and to tell of
    with pytest.raises(ParseError):
        other.would_hit("func.func @")


def test_would_hit_reads_no_program_that_is_known(compiler):
    compiler.compile(TEXT)
    script = (
        "import sys, twinjit\n"
        "assert twinjit.Compiler(cache=sys.argv[1]).would_hit(sys.argv[2])\n"
        "assert 'twinjit._native._mlir' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, compiler.store.root, TEXT], check=True)


def test_would_hit_with_confirmation_and_without_an_identity(tmp_path):
    confirming = twinjit.Compiler(cache=tmp_path, confirm="always")
    assert not confirming.would_hit(TEXT)
    confirming.compile(TEXT)
    assert confirming.would_hit(TEXT)
    assert not twinjit.Compiler(cache=tmp_path, confirm="always", opt_level=0).would_hit(TEXT)
    module = unidentifiable()
    confirming.compile(module)
    assert not confirming.would_hit(module)


def test_locations_do_not_reach_the_object(tmp_path):
    texts = [
        TEXT.replace("return %y : i64", f'return %y : i64 loc("{file}":{line}:1)')
        for file, line in (("a.py", 1), ("much/longer/path.py", 999))
    ]
    objects = set()
    for text in texts:
        objects.add(twinjit.Compiler(cache=False).compile(text).object_code)
    assert len(objects) == 1


def test_names_of_values_do_not_reach_the_object():
    objects = {twinjit.Compiler(cache=False).compile(text).object_code for text in (TEXT, RENAMED)}
    assert len(objects) == 1


def test_resource_keys_do_not_reach_the_object():
    text = (EXAMPLES / "mlp.mlir").read_text()
    renamed = text.replace("torch_tensor_", "renamed_")
    assert renamed != text
    one, two = (twinjit.Compiler(cache=False).compile(each) for each in (text, renamed))
    assert one.key == two.key
    assert one.object_code == two.object_code


@pytest.mark.parametrize("name", ["mlp_dynamic", "convnet"])
def test_every_process_gives_the_same_object(name):
    path = EXAMPLES / f"{name}.mlir"
    script = (
        "import sys, twinjit\n"
        "for path in sys.argv[1:]:\n"
        "    exe = twinjit.Compiler(cache=False).compile(path)\n"
        "sys.stdout.buffer.write(exe.object_code)"
    )
    # With a context and a code generator that have seen other programs, and with new ones.
    alone, after_others = (
        subprocess.run(
            [sys.executable, "-c", script, *paths], check=True, capture_output=True
        ).stdout
        for paths in ([path], [EXAMPLES / "saxpy.mlir", EXAMPLES / "mlp_args.mlir", path])
    )
    assert alone == after_others
    assert alone == twinjit.Compiler(cache=False).compile(path).object_code


def test_unloading_leaks_nothing():
    script = textwrap.dedent("""
    import gc, resource, sys
    import twinjit
    from twinjit._native import _llvm
    exe = twinjit.Compiler(cache=False).compile(sys.argv[1])
    code, names = exe.object_code, list(exe)
    def mappings():
        return sum(1 for _ in open("/proc/self/maps"))
    def resident():
        for line in open("/proc/self/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    def cycle(count):
        for _ in range(count):
            image = _llvm.load(code, names)
            assert image.address(names[0])
    cycle(500)
    before = mappings(), resident()
    cycle(5000)
    after = mappings(), resident()
    print(after[0] - before[0], after[1] - before[1])
    """)
    printed = subprocess.run(
        [sys.executable, "-c", script, TEXT], check=True, capture_output=True, text=True
    ).stdout
    mappings, kilobytes = map(int, printed.split())
    assert mappings <= 2
    assert kilobytes < 512  # 5,000 loads: a leak of 100 bytes each would show


def test_parse_error_keeps_what_was_compiled(compiler):
    first = compiler.compile(TEXT)
    with pytest.raises(ParseError):
        compiler.compile("func.func @f(")
    assert compiler.compile(TEXT) == first


# What one program leaves in a pooled context does not reach the next


def test_struct_names_do_not_meet(compiler):
    text = """llvm.func @f(%p: !llvm.ptr) -> i64 {{
      %0 = llvm.load %p : !llvm.ptr -> !llvm.struct<"L", ({0})>
      %1 = llvm.extractvalue %0[1] : !llvm.struct<"L", ({0})>
      llvm.return %1 : i64
    }}"""
    array = np.array([1, 2, 3], np.int64)
    assert compiler.compile(text.format("i64, i64, i64")).f(array) == 2
    assert compiler.compile(text.format("array<2 x i64>, i64")).f(array) == 3


def test_resource_keys_do_not_meet(compiler):
    text = """func.func @f() -> tensor<2xi32> {
      %0 = arith.constant dense_resource<k> : tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    """
    blob = (
        '{-#\n dialect_resources: {\n builtin: {\n k: "0x0400000001000000%s000000"\n }\n }\n#-}\n'
    )
    for last in ("02", "03"):
        got = compiler.compile(text + blob % last).f()
        np.testing.assert_array_equal(got, [1, int(last)])
    module = live(text)  # the same key, without bytes
    with pytest.raises(twinjit.errors.TwinjitError):
        compiler.compile(module)
