import sys

from esi_colocation.main import program

sys.exit(program())
