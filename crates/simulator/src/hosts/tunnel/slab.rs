//! Storage of values under numbers that are reused.

/// Values stored under numbers until they are removed; uses memory for the maximum stored at once.
#[derive(Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Slab<T> {
        Slab {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn put(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = Some(value);
            return number;
        }
        self.slots.push(Some(value));
        (self.slots.len() - 1) as u32
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    pub(super) fn take(&mut self, number: u32) -> Option<T> {
        let value = self.slots.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(value)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slab_reuses_numbers_without_duplicates() {
        let mut slab = Slab::new();
        let numbers = ["a", "b"].map(|value| slab.put(value));
        assert_eq!(numbers, [0, 1]);
        assert_eq!(
            (slab.take(0), slab.take(0), slab.take(7)),
            (Some("a"), None, None)
        );
        assert_eq!((slab.put("c"), slab.len()), (0, 2));
    }
}
