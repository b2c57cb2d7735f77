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
from .algorithms import advise_congestion, advise_scheduler, merge_settings, shared_with_others
from .buffers import advise_buffers
from .combined import advise_combined
from .deadlines import advise_deadlines
from .evaluator import Changes, Evaluator, Tally
from .exhaustive import require_few_paths
from .harmful_links import advise_harmful_links
from .least_cost import RateRequirement, advise_least_cost, parse_quantity
from .links import LinkChoice, choose_links
from .result import Advice, AdviceResults, Check, Subset
from .significance import Judge
from .subsets import Paths, Predictor, candidate_paths, check_short_form, use_paths

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
) -> AdviceResults:
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
    AdviceResults
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
    >>> results = ropewalk.advise("start/two-links")
    >>> [advice.question for advice in results.advice]
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
    wish = read_requirement(scenario, rate, delay)
    paths = candidate_paths(scenario)
    if check:
        require_few_paths(scenario)

    tally = Tally(progress)
    evaluator = Evaluator(scenario, seed, runs, executor, tally)
    # The best of many noisy means is biased upwards, so the combination gets fresh seeds.
    fresh = (
        evaluator
        if evaluator.runs == 1
        else Evaluator(scenario, seed + runs, runs, executor, tally)
    )
    judge = Judge(stream=scenario.setup.first.traffic.kind != "bulk")
    predictor = Predictor(scenario)
    tally.reserve(OF_LINKS + OF_TRANSPORT + (wish is not None) + check)
    predictor.rank(paths, tally)
    tally.ask()
    chosen = choose_links(evaluator, judge, predictor, paths)
    tally.ask()
    from .mesh import advise_mesh  # loads numpy

    routes = advise_mesh(evaluator, judge)
    advice = [routes, chosen.advice, advise_harmful_links(evaluator, judge, predictor, paths)]
    advice += _on_transport(evaluator, fresh, judge, chosen, paths, tally)
    # Least cost assumes a Poisson stream of packets; video frames are none.
    if wish is not None and (rate is not None or scenario.setup.first.traffic.kind != "video"):
        tally.ask()
        advice.append(advise_least_cost(evaluator, paths, wish))
    advice.append(advise_deadlines(scenario, paths))
    if check:
        tally.ask()
    checked = exhaustive.check(evaluator, judge, predictor, paths, chosen.paths) if check else None
    last = seed + evaluator.runs - 1 if fresh is evaluator else seed + 2 * runs - 1
    return AdviceResults(
        scenario=scenario,
        seed=seed,
        runs=evaluator.runs,
        simulated=evaluator.simulated + (0 if fresh is evaluator else fresh.simulated),
        advice=tuple(each for each in advice if each is not None),
        subsets=_subsets(predictor, chosen, checked),
        advised=chosen.paths,
        model=predictor.name,
        check=checked,
        origin=began.origin(scenario, seeds=range(seed, last + 1)),
    )


def read_requirement(
    scenario: Scenario, rate: str | None, delay: str | None, prefix: str = ""
) -> RateRequirement | None:
    """Read the requested rate and delay; None if neither arguments nor traffic name a rate.

    `prefix` precedes the argument names in errors. Raises ValueError if a value is invalid, or if
    a delay is given without a rate.

    Examples
    --------
    >>> read_requirement(Scenario.load("start/two-links"), "6 Mbit/s", "150 ms")
    RateRequirement(rate=6000000.0, delay=0.15)
    """
    of_traffic = scenario.setup.first.traffic.rate
    within = None if delay is None else parse_quantity("delay", delay, f"{prefix}delay")
    if rate is not None:
        return RateRequirement(parse_quantity("rate", rate, f"{prefix}rate"), within)
    if of_traffic:
        return RateRequirement(float(of_traffic), within)
    if delay is not None:
        raise ValueError(
            f'{prefix}delay "{delay}": bulk traffic has no rate: {prefix}rate is also needed'
        )
    return None


def _on_transport(
    evaluator: Evaluator,
    fresh: Evaluator,
    judge: Judge,
    chosen: LinkChoice,
    paths: Paths,
    tally: Tally,
) -> list[Advice | None]:
    base = use_paths(evaluator.scenario, chosen.paths)
    tally.ask()
    scheduler = advise_scheduler(evaluator, judge, base, chosen.paths)
    tally.ask()
    congestion = advise_congestion(
        evaluator, judge, {**base, **merge_settings([scheduler])}, chosen.paths
    )
    algorithms: Changes = merge_settings([scheduler, congestion])
    # The best algorithm for the present buffers may differ from the best for other buffers.
    present = evaluator.scenario.setup.first.congestion
    unfair = shared_with_others(evaluator.scenario, chosen.paths)
    own: Changes = merge_settings([congestion]) if unfair else {}
    single = evaluator.scenario.setup.first.protocol == "tcp"
    sets = [chosen.paths] if single else list(dict.fromkeys([chosen.paths, paths]))
    besides = [own] if own == algorithms else [own, algorithms]
    tally.ask()
    buffers = advise_buffers(evaluator, judge, [(each, base) for each in sets for base in besides])
    tally.ask()
    together = advise_combined(
        fresh,
        judge,
        {**chosen.advice.settings, **algorithms},
        buffers.settings,
        fair=not unfair or is_coupled(present),
    )
    return [scheduler, congestion, buffers, together]


def _subsets(
    predictor: Predictor, chosen: LinkChoice, checked: Check | None
) -> tuple[Subset, ...]:
    """List all predicted or simulated subsets, the small ones first."""
    simulated = {paths: made.goodput for paths, made in chosen.simulated.items()}
    if checked is not None:
        simulated |= {paths: made.goodput for paths, made in checked.simulated.items()}
    known = dict.fromkeys([*predictor.known, *simulated])
    return tuple(
        Subset(paths, predictor.known.get(paths), simulated.get(paths))
        for paths in sorted(known, key=lambda paths: (len(paths), paths))
    )
