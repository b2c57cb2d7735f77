//! Captures of real programs with random changes: the reader never panics.

#[path = "../../../tests/fuzz/properties/capture.rs"]
mod properties;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use proptest::prelude::*;

static CAPTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/kinds");
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut captures: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "gz"))
        .map(|path| {
            let mut bytes = Vec::new();
            let file = fs::File::open(&path).unwrap();
            GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                bytes,
            )
        })
        .collect();
    captures.sort();
    captures
});

#[test]
fn the_fuzz_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/capture");
    let mut outcomes = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let tally = properties::check(&fs::read(&path).unwrap());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("found_") {
            outcomes.push((name, tally.unwrap().segments));
        }
    }
    outcomes.sort();
    assert_eq!(
        outcomes,
        [("refused".to_owned(), 4), ("syn_fin".to_owned(), 20)]
    );
}

#[test]
fn captures_of_real_programs_are_read_to_their_end() {
    assert!(CAPTURES.len() >= 50);
    for (name, bytes) in &*CAPTURES {
        let tally = properties::check(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(tally.segments > 0, "{name}: {tally:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn captures_with_changed_bytes_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let (_, bytes) = which.get(&CAPTURES);
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        let _ = properties::check(&bytes);
    }
}
