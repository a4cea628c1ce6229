//! The table of what library code calls that was rewritten so that the order which it makes is seen.

/// The class that all of them are static methods of.
pub const ORDER_CLASS: &str = "java/lang/ScissionOrder";

macro_rules! order_hooks {
    ($($(#[$doc:meta])+ $hook:ident = $name:ident $descriptor:literal;)+) => {
        /// A static method of the runtime that rewritten library code calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OrderHook {
            $($(#[$doc])+ $hook,)+
        }

        impl OrderHook {
            /// Every hook, in the order of the table.
            pub const ALL: &'static [OrderHook] = &[$(OrderHook::$hook,)+];

            /// The name of the method.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(OrderHook::$hook => stringify!($name),)+ }
            }

            /// The descriptor of the method.
            #[must_use]
            pub const fn descriptor(self) -> &'static str {
                match self { $(OrderHook::$hook => $descriptor,)+ }
            }
        }
    };
}

order_hooks! {
    /// After a volatile field was read: the object, and the number of the field.
    AcquireField = acquireField "(Ljava/lang/Object;I)V";
    /// Before a volatile field is written: the object, and the number of the field.
    ReleaseField = releaseField "(Ljava/lang/Object;I)V";
    /// After a volatile static field was read: its class.
    AcquireStatic = acquireStatic "(Ljava/lang/Object;)V";
    /// Before a volatile static field is written: its class.
    ReleaseStatic = releaseStatic "(Ljava/lang/Object;)V";
    /// After a volatile field of a loaded class was read that gives order and is no variable: the object and the site.
    AcquireOrderField = acquireOrderField "(Ljava/lang/Object;I)V";
    /// Before a volatile field of a loaded class is written that gives order and is no variable: the object and the site.
    ReleaseOrderField = releaseOrderField "(Ljava/lang/Object;I)V";
    /// From here on atomic operations are not reported, until as many calls of [`OrderHook::Unmute`].
    Mute = mute "()V";
    /// Ends what the last [`OrderHook::Mute`] began.
    Unmute = unmute "()V";
    /// Before a monitor is entered: the object.
    PrepareMonitor = prepareMonitor "(Ljava/lang/Object;)V";
    /// After a monitor was entered: the object.
    AcquireMonitor = acquireMonitor "(Ljava/lang/Object;)V";
    /// Before a monitor is given back: the object.
    ReleaseMonitor = releaseMonitor "(Ljava/lang/Object;)V";
    /// When a synchronized method has begun: the receiver or the class.
    EnterMethod = enterMethod "(Ljava/lang/Object;)V";
    /// Before the innermost synchronized method ends.
    LeaveMethod = leaveMethod "()V";
    /// In place of `wait`.
    Wait = waitOn "(Ljava/lang/Object;)V";
    /// In place of `wait` with a time limit.
    WaitMillis = waitOn "(Ljava/lang/Object;J)V";
    /// In place of `wait` with a time limit in nanoseconds.
    WaitNanos = waitOn "(Ljava/lang/Object;JI)V";
    /// When a method begins in which order counts in another way, an [`OrderMode`].
    EnterMode = enterMode "(I)V";
    /// Before that method ends.
    LeaveMode = leaveMode "()V";
    /// The thread releases to a task.
    ReleaseTask = releaseTask "(Ljava/lang/Object;)V";
    /// The thread acquires from a task.
    AcquireTask = acquireTask "(Ljava/lang/Object;)V";
    /// The thread acquires what shared holders have released.
    AcquireShared = acquireShared "(Ljava/lang/Object;)V";
    /// The thread acquires what was withheld last.
    AcquireWithheld = acquireWithheld "()V";
    /// The thread acquires from all threads.
    AcquireAll = acquireAll "()V";
    /// The thread acquires what was released by interrupting it.
    AcquireInterrupt = acquireInterrupt "()V";
    /// A thread is about to be started.
    Start = start "(Ljava/lang/Object;)V";
    /// A thread may have ended.
    Join = join "(Ljava/lang/Object;)V";
    /// A fence.
    ReleaseFence = releaseFence "()V";
    /// A fence.
    AcquireFence = acquireFence "()V";
    /// After a field was read by reflection: the field, and the object.
    AcquireReflective = acquireReflective "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// After a method handle was made: the handle, and who made it; returns the handle to use.
    Accessor = accessor "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";
    /// Before a field is written by reflection: the field, and the object.
    ReleaseReflective = releaseReflective "(Ljava/lang/Object;Ljava/lang/Object;)V";
}

/// How the order counts that library code makes inside a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderMode {
    /// As it is.
    Loud,
    /// Not at all.
    Quiet,
    /// Only what is acquired.
    AcquireOnly,
    /// Only what is released; what is not acquired is withheld.
    ReleaseOnly,
    /// Only what is released, and that only to exclusive holders.
    SharedRelease,
}

impl OrderMode {
    /// All of them, in the order of their numbers.
    pub const ALL: &'static [OrderMode] = &[
        OrderMode::Loud,
        OrderMode::Quiet,
        OrderMode::AcquireOnly,
        OrderMode::ReleaseOnly,
        OrderMode::SharedRelease,
    ];

    /// Its name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            OrderMode::Loud => "Loud",
            OrderMode::Quiet => "Quiet",
            OrderMode::AcquireOnly => "AcquireOnly",
            OrderMode::ReleaseOnly => "ReleaseOnly",
            OrderMode::SharedRelease => "SharedRelease",
        }
    }

    /// What it means.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            OrderMode::Loud => "Order inside library code counts.",
            OrderMode::Quiet => "Order inside library code does not count.",
            OrderMode::AcquireOnly => "Only what is acquired counts.",
            OrderMode::ReleaseOnly => "Only what is released counts.",
            OrderMode::SharedRelease => {
                "Only what is released counts, and that only for exclusive holders."
            }
        }
    }
}
