//! Route counts of routing methods over many deployments of a mesh, in parallel.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ropewalk_network::mesh::{GenerationError, MAX_DRAWS, Placement, RouteStats, RouteSurvey};
use ropewalk_network::routing::{Method, Routing};

use crate::scenario::Scenario;

/// Surveys `count` deployments from number `first`, drawn like the scenario's mesh with other node
/// counts and seeds.
///
/// Returns a dict of columns: `draws`, `proven`, `nodes` (positions of the first `keep`), and for
/// each method and routing, such as `greedy_link`, the number of routes. `greedy_link_first` and
/// `greedy_link_second` have their hops, 0 for none. Optimal routes are searched for up to the
/// second.
#[pyfunction]
#[pyo3(signature = (scenario, nodes, seed, first, count, *, optimal=true, keep=0, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn mesh_census<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    nodes: usize,
    seed: u64,
    first: u64,
    count: u64,
    optimal: bool,
    keep: usize,
    threads: Option<NonZeroUsize>,
) -> PyResult<Bound<'py, PyDict>> {
    let Some(mesh) = &scenario.parsed.mesh else {
        return Err(PyValueError::new_err("the scenario has no [mesh]"));
    };
    let mut drawing = mesh.drawing.clone();
    if drawing.placement != Placement::Uniform {
        return Err(PyValueError::new_err(
            "mesh.placement: only places that are drawn have statistics",
        ));
    }
    if !(2..=1000).contains(&nodes) {
        let said = format!("nodes = {nodes}: must be from 2 to 1000");
        return Err(PyValueError::new_err(said));
    }
    drawing.nodes = nodes;
    let methods = match optimal {
        true => Method::ALL.to_vec(),
        false => vec![Method::Greedy],
    };
    let census = RouteSurvey {
        drawing,
        seed,
        most_draws: MAX_DRAWS,
        random_ties: mesh.random_ties,
        methods,
    };
    let threads = threads
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let surveyed = py.detach(|| survey(&census, first, count, threads));
    let surveyed = surveyed.map_err(|impossible| {
        let said = format!("mesh.require with {nodes} nodes: {impossible}");
        PyValueError::new_err(said)
    })?;
    columns(py, &census, &surveyed, keep)
}

fn survey(
    census: &RouteSurvey,
    first: u64,
    count: u64,
    threads: usize,
) -> Result<Vec<RouteStats>, GenerationError> {
    let next = AtomicU64::new(0);
    let done = Mutex::new(Vec::with_capacity(count as usize));
    thread::scope(|scope| {
        for _ in 0..threads.min(count as usize) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let surveyed = census.survey(first + number);
                    if surveyed.is_err() {
                        // A problem in the settings affects all deployments, so the rest are
                        // skipped.
                        next.store(count, Ordering::Relaxed);
                    }
                    let mut done = done.lock().expect("no thread panics with it");
                    done.push((number, surveyed));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics with it");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, surveyed)| surveyed).collect()
}

fn columns<'py>(
    py: Python<'py>,
    census: &RouteSurvey,
    surveyed: &[RouteStats],
    keep: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let draws: Vec<u64> = surveyed.iter().map(|one| one.drawn.draws).collect();
    columns.set_item("draws", draws.into_pyarray(py))?;
    let proven: Vec<bool> = surveyed.iter().map(|one| one.proven).collect();
    columns.set_item("proven", proven.into_pyarray(py))?;
    let places = surveyed.iter().take(keep);
    let places: Vec<_> = places.map(|one| one.drawn.deployment.at.clone()).collect();
    columns.set_item("nodes", places)?;
    for (of_method, method) in census.methods.iter().enumerate() {
        for (of_routing, routing) in Routing::DISJOINT.iter().enumerate() {
            let short = routing.name().trim_end_matches("-disjoint");
            let name = format!("{}_{short}", method.name());
            let hops = surveyed.iter().map(|one| &one.hops[of_method][of_routing]);
            let routes: Vec<u64> = hops.clone().map(|hops| hops.len() as u64).collect();
            columns.set_item(&name, routes.into_pyarray(py))?;
            for (number, which) in ["first", "second"].into_iter().enumerate() {
                let hops = hops.clone();
                let hops = hops.map(|hops| hops.get(number).map_or(0, |hops| *hops as u64));
                let hops: Vec<u64> = hops.collect();
                columns.set_item(format!("{name}_{which}"), hops.into_pyarray(py))?;
            }
        }
    }
    Ok(columns)
}
