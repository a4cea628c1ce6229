//! Sets as sorted lists without duplicates: small, compared at once, and the same in every run.

/// Adds an item; says whether it is new.
pub(crate) fn insert<T: Ord>(into: &mut Vec<T>, item: T) -> bool {
    match into.binary_search(&item) {
        Ok(_) => false,
        Err(at) => {
            into.insert(at, item);
            true
        }
    }
}

/// Adds all items of another set; says whether one of them is new.
pub(crate) fn unite<T: Ord + Copy>(into: &mut Vec<T>, from: &[T]) -> bool {
    if into.is_empty() {
        into.extend_from_slice(from);
        return !from.is_empty();
    }
    from.iter().fold(false, |grew, item| insert(into, *item) | grew)
}

/// Keeps what is in another set, too; says whether something is gone.
pub(crate) fn intersect<T: Ord>(into: &mut Vec<T>, from: &[T]) -> bool {
    let before = into.len();
    into.retain(|item| from.binary_search(item).is_ok());
    before != into.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_is_there_once_and_in_order() {
        let mut set = Vec::new();
        let is_new: Vec<bool> = [5, 1, 3, 1].map(|item| insert(&mut set, item)).into();
        assert_eq!(set, [1, 3, 5]);
        assert_eq!(is_new, [true, true, true, false]);
    }

    #[test]
    fn a_union_has_the_items_of_both_and_tells_whether_it_grew() {
        let mut set = Vec::new();
        assert!(!unite(&mut set, &[]));
        assert!(unite(&mut set, &[2, 4]));
        assert!(unite(&mut set, &[1, 4, 6]));
        assert_eq!(set, [1, 2, 4, 6]);
        assert!(!unite(&mut set, &[1, 6]));
        assert_eq!(set, [1, 2, 4, 6]);
    }

    #[test]
    fn an_intersection_has_the_items_of_both_and_tells_whether_it_shrank() {
        let mut set = vec![1, 2, 4, 6];
        assert!(!intersect(&mut set, &[0, 1, 2, 4, 6]));
        assert!(intersect(&mut set, &[2, 3, 6]));
        assert_eq!(set, [2, 6]);
        assert!(intersect(&mut set, &[]));
        assert!(!intersect(&mut set, &[7]));
        assert!(set.is_empty());
    }
}
