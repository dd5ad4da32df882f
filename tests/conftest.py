import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # oracles and random_priors are shared by all tests

settings.register_profile("steady", deadline=None, derandomize=True)  # machines differ, verdicts must not
settings.load_profile("steady")
