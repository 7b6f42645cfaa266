"""`python -m codemod` from a checkout; the installed command is `tfexplicit`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tfexplicit_codemod.cli import main

sys.exit(main())
