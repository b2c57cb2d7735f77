//! Numbered copies of an entry: `count` numbers the names from 1, and the number replaces `*` in a
//! reference.

pub(crate) const STAR: char = '*';

/// Name of one copy: `access-3`.
pub(crate) fn numbered(name: &str, number: u64) -> String {
    format!("{name}-{number}")
}

pub(crate) fn fill(pattern: &str, number: u64) -> String {
    pattern.replacen(STAR, &number.to_string(), 1)
}

/// Whether a name is the pattern with a number from 1 in place of the star.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once(STAR) else {
        return pattern == name;
    };
    let number = name.strip_prefix(before);
    let number = number.and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|digits| {
        !digits.is_empty()
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pattern_matches_numbered_names_only() {
        for (pattern, name, meant) in [
            ("access-*", "access-1", true),
            ("access-*", "access-65535", true),
            ("access-*-up", "access-7-up", true),
            ("access-*", "access-", false),
            ("access-*", "access-01", false),
            ("access-*", "access-0", false),
            ("access-*", "access-1a", false),
            ("access-*", "access-one", false),
            ("access-*", "my-access-1", false),
            ("access-1", "access-1", true),
            ("access-1", "access-10", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), meant, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn filled_pattern_matches(
            before in "[a-z0-9-]{0,5}",
            after in "[a-z-]{0,5}",
            number in 1u64..100_000,
        ) {
            let pattern = format!("{before}*{after}");
            prop_assert!(matches_pattern(&pattern, &fill(&pattern, number)));
            let pattern = format!("{before}-*");
            prop_assert!(matches_pattern(&pattern, &numbered(&before, number)));
        }
    }
}
