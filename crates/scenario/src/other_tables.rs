//! Tables that have a key missing in another table, for error messages.

use crate::keys::{Kind, Shape, TOP};

/// Tables with this key: `[traffic] or [[competitor]]`. `None` if no table has it, or `own` has it.
pub(crate) fn tables_with(key: &str, own: &Shape) -> Option<String> {
    if own.key(key).is_some() {
        return None;
    }
    if TOP.key(key).is_some() {
        return Some("above all tables".to_owned());
    }
    let tables = TOP.keys().filter_map(|table| match &table.kind {
        Kind::Table { shape, .. } if shape.key(key).is_some() => Some(format!("[{}]", table.name)),
        Kind::Tables { shape, .. } if shape.key(key).is_some() => {
            Some(format!("[[{}]]", table.name))
        }
        _ => None,
    });
    let tables: Vec<String> = tables.collect();
    (!tables.is_empty()).then(|| format!("in {}", tables.join(" or ")))
}

/// Name of the list of tables, if the line is a single table's header: `[link]` for `[[link]]`.
pub(crate) fn list_of_tables(line: &str) -> Option<&'static str> {
    let name = line.trim().strip_prefix('[')?.split(']').next()?.trim();
    let key = TOP.key(name)?;
    matches!(key.kind, Kind::Tables { .. }).then_some(key.name)
}
