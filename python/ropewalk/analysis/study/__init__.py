"""Studies: many runs of one scenario with keys varied, saved as they finish and resumable.

`study` runs one; a study file is read by `definition.load`.
"""

from .api import run, study
from .definition import Definition, StoppingRule, define
from .deprecated import sweep
from .result import StudyResults

__all__ = ["Definition", "StoppingRule", "StudyResults", "define", "run", "study", "sweep"]
