"""`python -m tfexplicit_codemod`, for where the command is not on the path."""

import sys

from tfexplicit_codemod.cli import main

sys.exit(main())
