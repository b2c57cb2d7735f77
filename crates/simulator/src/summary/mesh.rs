//! Summary of the mesh that a scenario drew.

use ropewalk_scenario::Mesh;

use crate::outcome::{DisjointRoutes, MeshSummary};

impl MeshSummary {
    pub(super) fn of(mesh: &Mesh) -> MeshSummary {
        let [link, node, zone] = mesh.disjoint;
        MeshSummary {
            nodes: mesh.drawn.deployment.at.len(),
            links: mesh.drawn.deployment.links().count(),
            source: Mesh::node_name(mesh.drawn.source),
            destination: Mesh::node_name(mesh.drawn.destination),
            draws: mesh.drawn.draws,
            routes: DisjointRoutes { link, node, zone },
        }
    }
}
