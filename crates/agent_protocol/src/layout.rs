//! What the two halves of the agent share beside events: bit widths and sizes, the layout of the shared memory, the
//! words by which the Java half learns how it was configured, and what it can ask of a library class.
//!
//! The constants here are the constants of the Java half as well (`java.rs` generates them).

macro_rules! layout {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)+) => {
        $($(#[doc = $doc])+ pub const $name: usize = $value;)+

        /// Every constant of the layout, with its meaning.
        pub(crate) const LAYOUT: &[(&str, usize, &str)] =
            &[$((stringify!($name), $name, concat!($($doc),+).trim_ascii()),)+];
    };
}

layout! {
    /// How many low bits of a word of a variable hold the site; the epoch stands above.
    SITE_BITS = 24;
    /// How many sites there can be, with the unknown one.
    SITES = 1 << SITE_BITS;
    /// How many low bits of an epoch count within a block of epochs. A block belongs to one thread.
    EPOCH_BITS = 14;
    /// Blocks of epochs. Block 0 belongs to no thread, since a word of 0 is none.
    EPOCH_BLOCKS = 1 << 25;
    /// How many bits number the variables whose reads are noted by thread.
    SHARED_BITS = 26;
    /// How many of them number the volatile ones among these, whose words have room for no more.
    VOLATILE_BITS = 20;
    /// How many threads at a time can note their reads of such variables, in a region each.
    REGIONS = 512;
    /// How many notes are made writable at once, as a power of two.
    NOTE_STEP_BITS = 20;
    /// How many notes are counted together against what all may take, as a power of two: they fill a page.
    NOTE_PAGE_BITS = 9;
    /// Where in a region, behind its notes, a byte for each such page says whether the thread may note something there.
    NOTE_PAGES = 8 << SHARED_BITS;
    /// How many static fields get words.
    STATICS = 1 << 20;
    /// The bytes that the two words of a static field take.
    STATIC_BYTES = 16;
    /// The bytes that a site takes in the table of sites: the field, and where its objects have their number.
    SITE_BYTES = 16;
    /// Where in its entry a site has the offset of the number of its objects, or the class of a static field.
    SITE_OWNER = 4;
    /// Where in its entry a site has the offset of a volatile field in its objects, 8 bytes long.
    SITE_OFFSET = 8;
    /// How many words note who released to which place in memory, as a power of two.
    ORDER_WORD_BITS = 22;
    /// How many volatile fields of library classes can be told apart.
    LIBRARY_FIELDS = 1 << 14;
    /// How many bits of a mode are on top of the stack of modes of a thread.
    ORDER_MODE_BITS = 4;
    /// Slots of the ring; a power of two.
    RING_SLOTS = 1 << 18;
    /// The bytes of a slot, as a power of two.
    SLOT_BITS = 5;
    /// Where a slot has the epoch.
    SLOT_EPOCH = 8;
    /// Where a slot has the first operand.
    SLOT_FIRST = 16;
    /// Where a slot has the second operand.
    SLOT_SECOND = 24;
    /// Where the first word of a slot has the kind of the event; its low half is the thread.
    HEAD_KIND_SHIFT = 56;
    /// Where the first word of a slot has the site.
    HEAD_SITE_SHIFT = 32;
    /// Where the second operand has the form of a variable.
    FORM_SHIFT = 32;
    /// How many bits of the second operand, from there, have the form of a variable.
    FORM_BITS = 4;
    /// Where the second operand has how many tickets before its own may be of operations that were done after this one
    /// began; all ones where that is not known.
    OVERLAPS_SHIFT = FORM_SHIFT + FORM_BITS;
    /// How many bytes lie between two counters: those that different threads write share no cache line.
    COUNTER_DISTANCE = 128;
    /// The exit code of a JVM that the agent ends because of a deadlock.
    DEADLOCK_EXIT_CODE = 86;
}

/// An enumeration whose members have numbers by their order, and names for Java.
macro_rules! numbered {
    (
        $(#[$type_doc:meta])+
        $type:ident {
            $($(#[doc = $doc:literal])+ $name:ident;)+
        }
    ) => {
        $(#[$type_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[doc = $doc])+ $name,)+
        }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [$type] = &[$($type::$name),+];

            /// Its name in the table.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($type::$name => stringify!($name),)+ }
            }

            /// What it means.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $($type::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// The one with this number.
            #[must_use]
            pub fn numbered(number: usize) -> Option<$type> {
                $type::ALL.get(number).copied()
            }
        }
    };
}

numbered! {
    /// What a method of the library does to its receiver, as far as trees of sides know it.
    TreeOperation {
        /// Nothing that is known.
        Nothing;
        /// It acquires it as a lock, or tries to.
        Acquires;
        /// It releases it as a lock.
        Releases;
        /// It reads its contents.
        Reads;
        /// It changes its contents.
        Writes;
        /// It acquires another lock.
        AcquiresOther;
        /// It acquires it as a lock that others may share, or tries to.
        AcquiresShared;
        /// It returns a lock that is its own under another name.
        ExclusiveView;
        /// It returns a lock that is its own, and that others may share.
        SharedView;
    }
}

impl TreeOperation {
    /// The number that stands for it in a tree, in the place of that of a method.
    #[must_use]
    pub const fn in_tree(self) -> i32 {
        -1 - self as i32
    }
}

numbered! {
    /// A word by which the Java half learns what the agent decided. It asks once for each.
    ConfigurationWord {
        /// The address of the ring.
        Ring;
        /// The address of the counter of tickets that hooks have drawn.
        Tail;
        /// The address of the counter of slots that have been taken.
        Head;
        /// Whether events go anywhere.
        Emits;
        /// Whether accesses that only their owner can see are held back.
        OwnershipFilter;
        /// Whether accesses that repeat one of the same epoch are dropped.
        EpochFilter;
        /// Which accesses to shared variables checkers need: 0, 1 or 2, as `checkers::NeededAccesses` has them.
        Accesses;
        /// Whether blocks inside other blocks matter, and in which order conflicting accesses came.
        NestedBlocks;
        /// Whether sides of branches are told that cannot be taken.
        AllBranches;
        /// The address of the table of threads that blocks of epochs belong to, an int each.
        Owners;
        /// The address of the table of sites.
        Sites;
        /// The address of the words of static fields.
        Statics;
        /// The address of the region of notes that stays empty: that of threads which have none.
        NoNotes;
        /// The address of the words that say which regions have notes of a variable.
        Noters;
        /// The address of the words of places that library code releases to.
        OrderWords;
        /// The address of the counter of blocks of epochs.
        NextBlock;
        /// The address of the counter of objects.
        NextObject;
        /// Whether threads are held back.
        Adversarial;
        /// The address of the bytes that say how often threads may still be held back at each site.
        Suspects;
        /// The address of the words that say of which branches enough has been told, an int for each site.
        ToldBranches;
        /// The address of the counter of holds.
        Holds;
        /// The address of the counter of slices that holds took.
        Slices;
        /// What decides by chance whom to hold back.
        Seed;
        /// How many slices a hold has at most.
        HoldFor;
        /// How often threads are held back at one site.
        HoldsPerSite;
        /// How many slices all holds of the run may have together.
        HoldBudget;
        /// Whether threads that wait for each other are looked for.
        Watchdog;
        /// Whether the JVM ends when some are found.
        ExitsOnDeadlock;
        /// After how many milliseconds without progress a hang is reported.
        HangAfter;
        /// Whether somebody has chosen that time: nobody will end the wait from outside then.
        IsHangTimeChosen;
    }
}

numbered! {
    /// What kind of variable an access is to; the upper half of the second operand of its record.
    VariableForm {
        /// A field of an object.
        Field;
        /// A static field.
        Static;
        /// An element of an array.
        Element;
        /// What a library object keeps, taken as one variable.
        Contents;
    }
}

numbered! {
    /// Something that the Java half asks of a class by its name, one bit each.
    ClassFact {
        /// It is a class of the library that leaves it to others to order the calls to its objects.
        Unordered;
        /// It is a class of the library that orders the calls to its objects, or whose objects do not change.
        Ordered;
        /// Its objects are locks.
        Lock;
        /// Its objects are locks that are held shared.
        SharedLock;
        /// Its objects hold their elements themselves, and give them out without calling other objects.
        HoldsElements;
        /// Its objects are streams that may be worked off by several threads.
        Stream;
        /// Its objects are threads that work off parallel streams of others.
        StreamWorker;
        /// Its objects are collections that order the calls to them themselves.
        Concurrent;
    }
}

impl ClassFact {
    /// The bit that stands for it.
    #[must_use]
    pub const fn bit(self) -> i32 {
        1 << self as i32
    }
}
