"""Old name of `ropewalk.bundled`."""

import warnings

from .bundled import *

warnings.warn("ropewalk.ready is now ropewalk.bundled", DeprecationWarning, stacklevel=2)
