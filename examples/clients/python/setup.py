"""Makes esi_client.generated out of openapi.json while the package is built (generate.py)."""
import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402


class Generated(build_py):
    def run(self):
        # Before the files are listed: an editable install takes them from here, all others copy them.
        generate.refresh()
        # The packages were looked for before there were any.
        from setuptools import find_packages
        self.distribution.packages = self.packages = find_packages(str(HERE / "src"))
        super().run()


setup(cmdclass={"build_py": Generated})
