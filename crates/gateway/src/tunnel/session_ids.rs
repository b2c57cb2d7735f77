//! Identifiers of sessions.

/// Generator of the identifiers of one process's sessions. All begin with the same secret prefix, by which
/// the kernel recognizes datagrams of sessions (see [`socket_filter`](super::socket_filter)).
#[derive(Clone, Copy, Debug)]
pub struct SessionIds {
    prefix: u16,
    next: u16,
}

impl SessionIds {
    #[must_use]
    pub fn new(prefix: u16, start: u16) -> SessionIds {
        SessionIds {
            prefix,
            next: start,
        }
    }

    /// Returns the next identifier that no session has; the oldest one again if all are taken.
    #[must_use]
    pub fn draw(&mut self, is_taken: impl Fn(u32) -> bool) -> u32 {
        for _ in 0..u16::MAX {
            let id = self.advance();
            if !is_taken(id) {
                return id;
            }
        }
        self.advance()
    }

    fn advance(&mut self) -> u32 {
        let id = u32::from(self.prefix) << 16 | u32::from(self.next);
        self.next = self.next.wrapping_add(1);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_prefix_and_skip_used_ones() {
        let mut ids = SessionIds::new(0xabcd, 0xffff);
        assert_eq!(ids.draw(|_| false), 0xabcd_ffff);
        assert_eq!(ids.draw(|id| id < 0xabcd_0003), 0xabcd_0003);
        assert_eq!(ids.draw(|_| true), 0xabcd_0003);
    }
}
