"""Prints every table of agreement, saves the pictures, and updates docs/agreement."""

import aggregation
import cellular
import coupling
import fluid
import formulas
import linux
import ns3_single_path
import ns3_striped
import tunnel
from ropewalk.output import plot
from tables import ROOT, write_into_pages

tables = [
    table
    for module in (
        ns3_single_path,
        formulas,
        linux,
        aggregation,
        coupling,
        ns3_striped,
        cellular,
        fluid,
        tunnel,
    )
    for table in module.tables()
]
for table in tables:
    table.print()
write_into_pages(tables)
picture = ROOT / "docs/images/coupling.png"
plot.save(coupling.picture(), picture)
print(f"renewed docs/agreement and {picture.relative_to(ROOT)}")
