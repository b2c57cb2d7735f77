"""Studies: many runs of one scenario with keys varied, saved as they finish and resumable.

`study` runs one; a study file is read by `definition.load`.
"""

from .definition import Definition, Until, define
from .study_results import StudyResults
from .studying import run, study

__all__ = ["Definition", "StudyResults", "Until", "define", "run", "study"]
