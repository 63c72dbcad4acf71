"""setup.py - what pyproject.toml cannot say: the version is that of sim/base/version.h, and a library that `make` has built goes
into the wheel with its data, so that what is installed needs neither the tree nor `make install`."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
LIBRARY = HERE / "build" / "release" / "libnpusim.so.0"
DATA = ("configs", "workloads/models")


class WithLibrary(build_py):
    def run(self):
        super().run()
        if LIBRARY.exists():
            package = Path(self.build_lib) / "npusim"
            shutil.copy(LIBRARY, package / LIBRARY.name)
            for folder in DATA:
                for path in sorted((HERE / folder).rglob("*.yaml")):
                    to = package / "data" / path.relative_to(HERE)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, to)


class OfThisMachine(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not LIBRARY.exists()

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(version=re.search(r'NPUSIM_VERSION "(.*?)"', (HERE / "sim/base/version.h").read_text()).group(1),
      cmdclass={"build_py": WithLibrary, "bdist_wheel": OfThisMachine})
