"""The function `advise`: links, scheduler and buffers for a scenario, with evidence."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from ...engines.simulate import check_runs
from ...provenance import Stopwatch
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
    """Recommend links, scheduler, congestion control and buffers for a scenario.

    The candidates come from an analytical model and are simulated before they are recommended.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to improve.
    rate : str, optional
        Rate to carry at least cost, such as ``"6 Mbit/s"``. Default: the rate of cbr and poisson
        traffic.
    delay : str, optional
        Largest delay at that rate, such as ``"150 ms"``.
    seed : int
        Seed of the first run of each candidate, 0 to 2^64 - 1.
    runs : int
        Runs of each candidate if the scenario is random, else 1.
    check : bool
        Simulate all subsets of at most 10 paths and rank the recommended one among them.
    executor : concurrent.futures.Executor, optional
        Where to simulate: a process pool or a cluster. Default: threads of this process, one for
        each core.
    progress : callable, optional
        Called with the numbers of finished and expected candidates. The expected number can
        change, because results decide which candidates follow.

    Returns
    -------
    Counsel
        One answer to each question, with its evidence.

    Raises
    ------
    ScenarioError
        The scenario is invalid.
    ValueError
        Another argument is invalid.
    RuntimeError
        A run failed.

    Examples
    --------
    >>> import ropewalk
    >>> counsel = ropewalk.advise("start/two-links")
    >>> [advice.question for advice in counsel.advice]
    ['links', 'weakest', 'scheduler', 'congestion', 'buffers', 'together']
    """
    began = Stopwatch()
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
    # The best of many noisy means is biased upwards, so the combination gets fresh seeds.
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
    # Least cost assumes a Poisson stream of packets; video frames are none.
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
    """Read the requested rate and delay; None if neither arguments nor traffic name a rate.

    `prefix` precedes the argument names in errors. Raises ValueError if a value is invalid, or if
    a delay is given without a rate.

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
    base = over(bench.scenario, chosen.paths)
    tally.ask()
    scheduler = advise_scheduler(bench, judge, base, chosen.paths)
    tally.ask()
    congestion = advise_congestion(
        bench, judge, {**base, **settings_of([scheduler])}, chosen.paths
    )
    algorithms: Changes = settings_of([scheduler, congestion])
    # The best algorithm for the present buffers may differ from the best for other buffers.
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
    """List all predicted or simulated subsets, the small ones first."""
    simulated = {paths: made.goodput for paths, made in chosen.simulated.items()}
    if checked is not None:
        simulated |= {paths: made.goodput for paths, made in checked.simulated.items()}
    known = dict.fromkeys([*predictor.known, *simulated])
    return tuple(
        Subset(paths, predictor.known.get(paths), simulated.get(paths))
        for paths in sorted(known, key=lambda paths: (len(paths), paths))
    )
