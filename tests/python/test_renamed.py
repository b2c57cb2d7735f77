"""Old names of the public API give the new ones, with a warning."""

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("ropewalk", "Counsel", "AdviceResults"),
        ("ropewalk.emulation", "Run", "KernelRun"),
        ("ropewalk.mesh", "Counted", "DeploymentStatistics"),
        ("ropewalk.reproduction", "Comparison", "ComparedValue"),
    ],
)
def test_old_name_warns_and_is_the_new_class(module, old, new):
    home = import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{module}.{old} is now {module}.{new}"):
        assert getattr(home, old) is getattr(home, new)
