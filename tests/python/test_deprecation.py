"""Old names of the public API still work, and warn."""

import importlib
import sys

import pytest

RENAMED = {
    "ropewalk": {"Counsel": "AdviceResults"},
    "ropewalk.emulation": {"Run": "KernelRun"},
    "ropewalk.mesh": {"Counted": "DeploymentStatistics"},
    "ropewalk.reproduction": {"Comparison": "ComparedValue"},
    "ropewalk.scenario": {"spelled": "toml_value"},
    "ropewalk.scenario.setup": {"Radio": "NodeRadio"},
    "ropewalk.model.cheapest_in_time": {"Link": "PricedLink"},
    "ropewalk.model.fluid": {
        "Connection": "FluidConnection",
        "Link": "FluidLink",
        "Path": "FluidPath",
    },
    "ropewalk.model.park2014.splitting": {"Comparison": "GreedyComparison"},
    "ropewalk.model.wifi": {"Cell": "SaturatedCell", "Radio": "PhyTiming"},
}


@pytest.mark.parametrize(
    ("module", "old", "new"), [(m, *names) for m, of in RENAMED.items() for names in of.items()]
)
def test_old_name_is_the_new_object_and_warns(module, old, new):
    home = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{old} is now {module}\.{new}"):
        value = getattr(home, old)
    assert value is getattr(home, new)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Bridge'"):
        importlib.import_module("ropewalk.model.fluid").Bridge  # noqa: B018


def test_ready_is_bundled_and_warns():
    sys.modules.pop("ropewalk.ready", None)
    with pytest.warns(DeprecationWarning, match=r"ropewalk\.ready is now ropewalk\.bundled"):
        old = importlib.import_module("ropewalk.ready")
    assert old.names is importlib.import_module("ropewalk.bundled").names
