//! Set of links with constant-time lookup.

/// Numbers of links, each at most once, unordered.
#[derive(Debug, Default)]
pub(super) struct LinkList {
    listed: Vec<usize>,
    is_listed: Vec<bool>,
}

impl LinkList {
    pub(super) fn insert(&mut self, link: usize) {
        if self.is_listed.len() <= link {
            self.is_listed.resize(link + 1, false);
        }
        if !std::mem::replace(&mut self.is_listed[link], true) {
            self.listed.push(link);
        }
    }

    pub(super) fn contains(&self, link: usize) -> bool {
        self.is_listed.get(link) == Some(&true)
    }

    /// Removes the links for which `keeps` is false, with one call for each.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(usize) -> bool) {
        let is_listed = &mut self.is_listed;
        self.listed.retain(|&link| {
            is_listed[link] = keeps(link);
            is_listed[link]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_listed_once_until_it_is_dropped() {
        let mut list = LinkList::default();
        for link in [3, 1, 3, 200, 1] {
            list.insert(link);
        }
        assert!([1, 3, 200].iter().all(|&link| list.contains(link)));
        assert!(![0, 2, 199, 201].iter().any(|&link| list.contains(link)));
        let mut asked = Vec::new();
        list.retain(|link| {
            asked.push(link);
            link == 200
        });
        assert_eq!(asked, [3, 1, 200]);
        assert!(list.contains(200) && !list.contains(3) && !list.contains(1));
        list.insert(1);
        list.retain(|link| link == 1);
        assert!(list.contains(1) && !list.contains(200));
    }
}
