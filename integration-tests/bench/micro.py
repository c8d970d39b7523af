"""The benchmarks beside the sources (*_bench.cpp): time and allocations of the hot paths."""
import json
import pathlib
import subprocess

from operators import binaries

PROGRAMS = ("common/esi_common_bench", "operators/esi_testbed_bench", "operators/esi_gangs_bench",
            "operators/esi_batchjob_bench", "operators/esi_scheduling_bench")


def programs():
    """Those that were built."""
    return [each for each in (binaries().parent / name for name in PROGRAMS) if each.exists()]


def run(program, *flags):
    """{benchmark: {"ns": ..., counter: ...}}"""
    done = subprocess.run([str(program), "--benchmark_format=json", *flags], capture_output=True, text=True,
                          timeout=600, check=True)
    plain = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "threads",
             "repetition_index", "iterations", "real_time", "cpu_time", "time_unit", "bytes_per_second"}
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return {each["name"]: {"ns": each["cpu_time"] * unit[each["time_unit"]],
                           **{key: value for key, value in each.items() if key not in plain}}
            for each in json.loads(done.stdout)["benchmarks"]}


def measure(_=None, *flags):
    found = {}
    for program in programs():
        found[pathlib.Path(program).name] = run(program, *flags)
    return found
