//! Suggestions of the closest allowed word.

/// The closest candidate to `word`, if any is close.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    /// Longer words are no typing errors, and would take long to compare.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    let rank = |candidate: &str| {
        let candidate = plain(candidate);
        if word.len() >= 3 && candidate.starts_with(&word) {
            return Some(1);
        }
        let distance = strsim::damerau_levenshtein(&word, &candidate);
        (distance <= (candidate.chars().count() / 3).max(1)).then_some(distance)
    };
    candidates
        .into_iter()
        .filter_map(|candidate| Some((rank(candidate)?, candidate)))
        // People rarely mistype the first letter.
        .min_by_key(|(rank, candidate)| (*rank, candidate.chars().next() != word.chars().next()))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_suggests_close_words_only() {
        let words = [
            "delay",
            "rate",
            "min-rtt",
            "receive_buffer",
            "gilbert-elliott",
        ];
        let nearest = |word| nearest(word, words);
        assert_eq!(nearest("dealy").as_deref(), Some("delay"));
        assert_eq!(nearest("MIN_RTT").as_deref(), Some("min-rtt"));
        assert_eq!(nearest("recieve-buffer").as_deref(), Some("receive_buffer"));
        assert_eq!(nearest("gilbert").as_deref(), Some("gilbert-elliott"));
        assert_eq!(
            super::nearest("mtcp", ["tcp", "mptcp"]).as_deref(),
            Some("mptcp")
        );
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
    }
}
