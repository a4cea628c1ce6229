//! A hash table for the state of variables and synchronisation objects.
//!
//! Open addressing in one array, because a look-up that misses the cache costs more than all the rest of an
//! event: a value is stored beside its key, and the fields of an object and neighbouring array elements
//! are close to each other. Nothing is removed one by one. The owner of a full table says what can be dropped,
//! and it grows only if that was not enough, so that its size depends on what is in use.

use events::{ClassId, ObjectId, Variable};

/// What a value is about, in 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    object: u64,
    /// What of the object: a kind in the high half, and a number.
    part: u64,
}

impl Key {
    /// No key at all: marks room.
    const NONE: Key = Key { object: 0, part: u64::MAX };

    /// The kinds up to this one are for variables.
    pub(crate) const FIRST_OTHER_KIND: u32 = 4;

    pub(crate) fn new(kind: u32, object: ObjectId) -> Key {
        Key { object: object.0, part: u64::from(kind) << 32 }
    }

    pub(crate) fn of_class(kind: u32, class: ClassId) -> Key {
        Key { object: u64::from(class.0), part: u64::from(kind) << 32 }
    }

    /// Neighbours differ in the last bits of the part, and only there.
    #[inline]
    fn hash(self) -> u64 {
        const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
        const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;
        let mixed = self.object.wrapping_mul(FIRST).rotate_left(29) ^ (self.part / NEIGHBOURS);
        mixed.wrapping_mul(SECOND)
    }
}

impl From<Variable> for Key {
    #[inline]
    fn from(variable: Variable) -> Key {
        let (kind, object, number) = match variable {
            Variable::Field(object, field) => (0, object.0, field.0),
            Variable::Static(field) => (1, 0, field.0),
            Variable::Element(object, index) => (2, object.0, index),
            Variable::Contents(object) => (3, object.0, 0),
        };
        Key { object, part: (kind << 32) | u64::from(number) }
    }
}

/// How many parts of an object lie together.
const NEIGHBOURS: u64 = 8;

/// The room of a table before anything is in it.
const FIRST_ROOM: usize = 16;

/// A table with less room than this grows without asking what can be forgotten.
const LEAST_ROOM_TO_SWEEP: usize = 8192;

#[derive(Debug)]
struct Bucket<V> {
    key: Key,
    value: V,
}

/// Where something is in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    at: usize,
    key: Key,
}

/// Values by key.
#[derive(Debug)]
pub(crate) struct Table<V> {
    /// A power of two of them, three eighths of which at least are empty.
    buckets: Vec<Bucket<V>>,
    len: usize,
    /// How many high bits of a hash are not used.
    shift: u32,
}

impl<V: Default> Default for Table<V> {
    fn default() -> Table<V> {
        Table::with_room(FIRST_ROOM)
    }
}

impl<V: Default> Table<V> {
    fn with_room(room: usize) -> Table<V> {
        let empty = || Bucket { key: Key::NONE, value: V::default() };
        Table {
            buckets: std::iter::repeat_with(empty).take(room).collect(),
            len: 0,
            shift: u64::BITS - room.trailing_zeros(),
        }
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the key is, or the room for it.
    #[inline]
    fn find(&self, key: Key) -> usize {
        let last = self.buckets.len() - 1;
        let mut at = ((key.hash() >> self.shift) ^ (key.part % NEIGHBOURS)) as usize;
        loop {
            let known = self.buckets[at & last].key;
            if known == key || known == Key::NONE {
                return at & last;
            }
            at += 1;
        }
    }

    /// Where the value of a key is or would be, until something is added or forgotten.
    #[inline]
    pub(crate) fn position(&self, key: Key) -> Position {
        Position { at: self.find(key), key }
    }

    /// The value at a place, if there is one.
    #[inline]
    pub(crate) fn at(&self, position: Position) -> Option<&V> {
        let bucket = &self.buckets[position.at];
        (bucket.key != Key::NONE).then_some(&bucket.value)
    }

    /// The value at a place, which gets one if there is none.
    #[inline]
    pub(crate) fn entry_at(&mut self, position: Position) -> &mut V {
        if self.buckets[position.at].key == position.key {
            return &mut self.buckets[position.at].value;
        }
        self.entry(position.key)
    }

    /// The value of a key that has one.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&V> {
        let bucket = &self.buckets[self.find(key)];
        (bucket.key != Key::NONE).then_some(&bucket.value)
    }

    /// The value of a key, which gets one if it has none.
    #[inline]
    pub(crate) fn entry(&mut self, key: Key) -> &mut V {
        let mut at = self.find(key);
        if self.buckets[at].key == Key::NONE {
            if self.len >= self.most() {
                self.grow();
                at = self.find(key);
            }
            self.buckets[at].key = key;
            self.len += 1;
        }
        &mut self.buckets[at].value
    }

    /// How many keys it can have without growing.
    fn most(&self) -> usize {
        self.buckets.len() / 8 * 5
    }

    /// Whether the owner should drop what is not needed.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.most() && self.buckets.len() >= LEAST_ROOM_TO_SWEEP
    }

    /// Forgets all but what is kept. Afterwards it is not full.
    pub(crate) fn make_room(&mut self, mut keep: impl FnMut(&mut V) -> bool) {
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.retain_mut(|bucket| bucket.key != Key::NONE && keep(&mut bucket.value));
        // Twice as many keys fit before the next sweep.
        let room = (buckets.len() * 2 * 8).div_ceil(5).next_power_of_two();
        self.refill(buckets, room.max(LEAST_ROOM_TO_SWEEP));
    }

    fn grow(&mut self) {
        let mut buckets = std::mem::take(&mut self.buckets);
        let room = 2 * buckets.len();
        buckets.retain(|bucket| bucket.key != Key::NONE);
        self.refill(buckets, room);
    }

    fn refill(&mut self, buckets: Vec<Bucket<V>>, room: usize) {
        *self = Table { len: buckets.len(), ..Table::with_room(room) };
        for bucket in buckets {
            let at = self.find(bucket.key);
            self.buckets[at] = bucket;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::FieldId;

    fn field(number: u64) -> Key {
        Key::from(Variable::Field(ObjectId(number / 3), FieldId((number % 3) as u32)))
    }

    #[test]
    fn what_was_put_in_is_found_again() {
        let mut table: Table<u64> = Table::default();
        for number in 0..100_000 {
            *table.entry(field(number)) = number;
        }
        assert_eq!(table.len(), 100_000);
        assert!((0..100_000).all(|number| table.get(field(number)) == Some(&number)));
        assert_eq!(table.get(field(100_000)), None);
    }

    #[test]
    fn different_things_have_different_keys() {
        let (object, number) = (ObjectId(7), 0);
        let keys = [
            Key::from(Variable::Field(object, FieldId(number))),
            Key::from(Variable::Element(object, number)),
            Key::from(Variable::Contents(object)),
            Key::from(Variable::Static(FieldId(number))),
            Key::new(Key::FIRST_OTHER_KIND, object),
            Key::of_class(Key::FIRST_OTHER_KIND + 1, ClassId(7)),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys[..at].iter().all(|other| other != one));
        }
    }

    #[test]
    fn what_is_forgotten_leaves_room() {
        let mut table: Table<u64> = Table::default();
        let mut swept = 0;
        for number in 0..1_000_000 {
            if table.is_full() {
                table.make_room(|value| number - *value < 1000);
                swept += 1;
            }
            *table.entry(field(number)) = number;
        }
        assert!(swept > 10, "{swept}");
        assert!(table.buckets.len() <= 2 * LEAST_ROOM_TO_SWEEP, "{}", table.buckets.len());
        assert!((999_500..1_000_000).all(|number| table.get(field(number)) == Some(&number)));
    }
}
