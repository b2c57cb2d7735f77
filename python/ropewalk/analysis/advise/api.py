"""Advise on a scenario: which links, scheduler and buffers to use, each answer with evidence."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from ...engines.simulate import check_runs
from ...provenance import Beginning
from ...scenario import Given, Scenario
from ...scenario.registry import is_coupled
from ...support.arguments import flag, function, text, whole
from . import exhaustive
from .algorithms import advise_congestion, advise_scheduler, settings_of, shared_with_others
from .buffers import advise_buffers
from .combined import advise_together
from .deadlines import advise_deadlines
from .evaluator import Bench, Changes, Tally
from .exhaustive import allow_check
from .harmful_links import advise_weakest
from .least_cost import Wish, advise_least_cost, quantity
from .links import Chosen, choose
from .result import Advice, Check, Counsel, Subset
from .significance import Judge
from .subsets import Paths, Predictor, candidates, check_short_form, over

RUNS = 5
OF_LINKS = 2  # questions on links: which to use, which is the weakest
OF_TRANSPORT = 4  # questions on transport: scheduler, congestion control, buffers, all together


def advise(
    scenario: Given,
    *,
    rate: str | None = None,
    delay: str | None = None,
    seed: int = 1,
    runs: int = RUNS,
    check: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Counsel:
    """Advise on a scenario, by what a model predicts and the simulator confirms.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to advise on.
    rate : str, optional
        A rate to carry at least cost, such as ``"6 Mbit/s"``; that of cbr and poisson traffic if
        not given.
    delay : str, optional
        Within which delay, such as ``"150 ms"``.
    seed : int
        Seed of the first run of each candidate, 0 to 2^64 - 1.
    runs : int
        Runs of each candidate, if anything in the scenario is random.
    check : bool
        Simulate all subsets of up to 10 paths, and say which place the advised one takes.
    executor : concurrent.futures.Executor, optional
        Where to simulate: a process pool, or a cluster's. In this process on all its cores if not
        given.
    progress : callable, optional
        Called with the number of candidates that were predicted or simulated, and of how many
        there will be, as far as can be told: what is found decides what is asked next.

    Returns
    -------
    Counsel
        One answer to each question, with its evidence.

    Raises
    ------
    ScenarioError
        The scenario is wrong.
    ValueError
        Another argument is wrong.
    RuntimeError
        A run failed.

    Examples
    --------
    >>> import ropewalk
    >>> counsel = ropewalk.advise("start/two-links")
    >>> [advice.question for advice in counsel.advice]
    ['links', 'weakest', 'scheduler', 'congestion', 'buffers', 'together']
    """
    began = Beginning()
    scenario = Scenario.of(scenario)
    check_short_form(scenario)
    runs = whole("runs", runs, least=1)
    seed, _ = check_runs(seed, 2 * runs)
    check = flag("check", check)
    progress = function("progress", progress)
    rate = None if rate is None else text("rate", rate, "6 Mbit/s")
    delay = None if delay is None else text("delay", delay, "150 ms")
    wish = wished(scenario, rate, delay)
    paths = candidates(scenario)
    if check:
        allow_check(scenario)

    tally = Tally(progress)
    bench = Bench(scenario, seed, runs, executor, tally)
    # The best of many noisy means is biased upwards: all together is simulated with fresh seeds.
    anew = bench if bench.runs == 1 else Bench(scenario, seed + runs, runs, executor, tally)
    judge = Judge(stream=scenario.setup.first.traffic.kind != "bulk")
    predictor = Predictor(scenario)
    tally.reserve(OF_LINKS + OF_TRANSPORT + (wish is not None) + check)
    predictor.rank(paths, tally)
    tally.ask()
    chosen = choose(bench, judge, predictor, paths)
    tally.ask()
    from .mesh import advise_mesh  # loads numpy

    routes = advise_mesh(bench, judge)
    advice = [routes, chosen.advice, advise_weakest(bench, judge, predictor, paths)]
    advice += _on_transport(bench, anew, judge, chosen, paths, tally)
    # A video's frames are no Poisson stream of packets, of which the least cost within a delay is.
    if wish is not None and (rate is not None or scenario.setup.first.traffic.kind != "video"):
        tally.ask()
        advice.append(advise_least_cost(bench, paths, wish))
    advice.append(advise_deadlines(scenario, paths))
    if check:
        tally.ask()
    checked = exhaustive.check(bench, judge, predictor, paths, chosen.paths) if check else None
    last = seed + bench.runs - 1 if anew is bench else seed + 2 * runs - 1
    return Counsel(
        scenario=scenario,
        seed=seed,
        runs=bench.runs,
        simulated=bench.simulated + (0 if anew is bench else anew.simulated),
        advice=tuple(each for each in advice if each is not None),
        subsets=_subsets(predictor, chosen, checked),
        advised=chosen.paths,
        model=predictor.name,
        check=checked,
        origin=began.origin(scenario, seeds=range(seed, last + 1)),
    )


def wished(
    scenario: Scenario, rate: str | None, delay: str | None, prefix: str = ""
) -> Wish | None:
    """Read which rate is to be had within which delay; None if nothing says a rate.

    Parameters
    ----------
    scenario : Scenario
        Whose traffic has a rate, or not.
    rate, delay : str or None
        As the arguments of `advise`.
    prefix : str
        What stands before their names in errors.

    Raises
    ------
    ValueError
        One cannot be read, or a delay is given and no rate.

    Examples
    --------
    >>> wished(Scenario.load("start/two-links"), "6 Mbit/s", "150 ms")
    Wish(rate=6000000.0, delay=0.15)
    """
    of_traffic = scenario.setup.first.traffic.rate
    within = None if delay is None else quantity("delay", delay, f"{prefix}delay")
    if rate is not None:
        return Wish(quantity("rate", rate, f"{prefix}rate"), within)
    if of_traffic:
        return Wish(float(of_traffic), within)
    if delay is not None:
        raise ValueError(
            f'{prefix}delay "{delay}": bulk traffic has no rate of its own; say {prefix}rate, too'
        )
    return None


def _on_transport(
    bench: Bench, anew: Bench, judge: Judge, chosen: Chosen, paths: Paths, tally: Tally
) -> list[Advice | None]:
    """Advise on scheduler, congestion control and buffers in turn, and on all together."""
    base = over(bench.scenario, chosen.paths)
    tally.ask()
    scheduler = advise_scheduler(bench, judge, base, chosen.paths)
    tally.ask()
    congestion = advise_congestion(
        bench, judge, {**base, **settings_of([scheduler])}, chosen.paths
    )
    algorithms: Changes = settings_of([scheduler, congestion])
    # What was best with the present buffers need not be so with others.
    present = bench.scenario.setup.first.congestion
    unfair = shared_with_others(bench.scenario, chosen.paths)
    own: Changes = settings_of([congestion]) if unfair else {}
    single = bench.scenario.setup.first.protocol == "tcp"
    sets = [chosen.paths] if single else list(dict.fromkeys([chosen.paths, paths]))
    besides = [own] if own == algorithms else [own, algorithms]
    tally.ask()
    buffers = advise_buffers(bench, judge, [(each, base) for each in sets for base in besides])
    tally.ask()
    together = advise_together(
        anew,
        judge,
        {**chosen.advice.settings, **algorithms},
        buffers.settings,
        fair=not unfair or is_coupled(present),
    )
    return [scheduler, congestion, buffers, together]


def _subsets(predictor: Predictor, chosen: Chosen, checked: Check | None) -> tuple[Subset, ...]:
    """List what was predicted or simulated of subsets, the small ones first."""
    simulated = {paths: made.goodput for paths, made in chosen.simulated.items()}
    if checked is not None:
        simulated |= {paths: made.goodput for paths, made in checked.simulated.items()}
    known = dict.fromkeys([*predictor.known, *simulated])
    return tuple(
        Subset(paths, predictor.known.get(paths), simulated.get(paths))
        for paths in sorted(known, key=lambda paths: (len(paths), paths))
    )
