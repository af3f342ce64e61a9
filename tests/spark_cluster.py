"""A real standalone cluster from the pip package: one master, two workers, each a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyspark

LOOPBACK = "127.0.0.1"
REGISTERED = "Successfully registered with master"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


class StandaloneCluster:
    """Starts a master and workers, and stops exactly those."""

    def __init__(self, n_workers: int = 2, memory: str = "1g") -> None:
        self.memory = memory
        self.folder = Path(tempfile.mkdtemp(prefix="sodm-cluster-"))
        self.environment = dict(os.environ)
        self.environment |= {
            "SPARK_LOCAL_IP": LOOPBACK,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
        }
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.port = free_port()
        self.url = f"spark://{LOOPBACK}:{self.port}"
        try:
            self._start_all(n_workers)
        except BaseException:
            self.stop()
            raise

    def _start_all(self, n_workers: int) -> None:
        master = self._start(
            "master",
            "org.apache.spark.deploy.master.Master",
            *("--host", LOOPBACK, "--port", str(self.port), "--webui-port", "0"),
        )
        self._wait_for(master, "master", "New state: ALIVE")
        for name, worker in [self._start_worker() for _ in range(n_workers)]:
            self._wait_for(worker, name, REGISTERED)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        name, worker = self._start_worker()
        self._wait_for(worker, name, REGISTERED)
        return worker

    def _start_worker(self) -> tuple[str, subprocess.Popen[bytes]]:
        """A worker of one core."""
        name = f"worker-{len(self.processes)}"
        worker = self._start(
            name,
            "org.apache.spark.deploy.worker.Worker",
            *("--host", LOOPBACK, "--webui-port", "0", "--cores", "1", "--memory", self.memory),
            *("--work-dir", str(self.folder / name), self.url),
        )
        self.workers.append(worker)
        return name, worker

    def kill_worker(self) -> None:
        """The last worker dies without a word, and with it its executor."""
        worker = self.workers.pop()
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        """End what was started here, and nothing else."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [str(SPARK_CLASS), *command], stdout=log, stderr=log, env=self.environment, cwd=self.folder
        )
        log.close()
        self.processes.append(process)
        return process

    def _wait_for(self, process: subprocess.Popen[bytes], name: str, line: str) -> None:
        until = time.monotonic() + 300
        while time.monotonic() < until:
            text = (self.folder / f"{name}.log").read_text(errors="replace")
            if re.search(re.escape(line), text):
                return
            if process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the {name} did not start: {(self.folder / f'{name}.log').read_text()[-2000:]}")

    def session(self, name: str = "sodm tests", **settings: str):
        """A session of a new application on this cluster."""
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        builder = SparkSession.builder.master(self.url).appName(name)
        plain = {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.cores.max": "2",
            "spark.sql.shuffle.partitions": "2",
            "spark.network.timeout": "60s",
            "spark.shuffle.io.maxRetries": "1",  # a dead worker is not asked again and again
            "spark.shuffle.io.retryWait": "1s",
            "spark.log.level": "ERROR",
            "spark.ui.showConsoleProgress": "false",
        }
        for key, value in (plain | settings).items():
            builder = builder.config(key, value)
        return builder.getOrCreate()
