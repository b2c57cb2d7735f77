//! Settings of the calling thread's network namespace (sysctl(8), proc_sys_net(5)).

use std::fs;

use crate::error::Error;

/// Error: the first setting that the kernel does not have or rejects.
pub(crate) fn set(settings: &[(&'static str, String)]) -> Result<(), Error> {
    for (name, value) in settings {
        fs::write(path(name), value).map_err(|source| Error::Setting {
            name: (*name).to_owned(),
            value: value.clone(),
            source,
        })?;
    }
    Ok(())
}

pub(crate) fn get(name: &str) -> Option<String> {
    let text = fs::read_to_string(path(name)).ok()?;
    Some(text.trim_end().to_owned())
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
