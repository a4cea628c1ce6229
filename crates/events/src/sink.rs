//! Where events go.

use std::io;

use crate::{Event, Tables};

/// Takes the events of a run, in their order: a trace that is written, a checker, a counter.
///
/// Rows of `tables` are there before the first event that names them, and never change. After an
/// error, and after [`Sink::finish`], a sink takes further events without doing anything: whoever
/// feeds it may go on without asking.
pub trait Sink {
    /// Takes one event.
    ///
    /// # Errors
    ///
    /// Fails when the events cannot be kept, once.
    fn event(&mut self, event: &Event, tables: &Tables) -> io::Result<()>;

    /// Takes many events; the same as giving them one by one.
    ///
    /// # Errors
    ///
    /// Fails as [`Sink::event`] does.
    fn events(&mut self, events: &[Event], tables: &Tables) -> io::Result<()> {
        events.iter().try_for_each(|event| self.event(event, tables))
    }

    /// Makes safe what was taken so far: if the process is killed now, it is kept.
    ///
    /// # Errors
    ///
    /// Fails as [`Sink::event`] does.
    fn flush(&mut self, tables: &Tables) -> io::Result<()> {
        let _ = tables;
        Ok(())
    }

    /// There are no more events.
    ///
    /// # Errors
    ///
    /// Fails as [`Sink::event`] does.
    fn finish(&mut self, tables: &Tables) -> io::Result<()>;
}

/// Keeps the events in memory.
impl Sink for Vec<Event> {
    fn event(&mut self, event: &Event, _: &Tables) -> io::Result<()> {
        self.push(*event);
        Ok(())
    }

    fn finish(&mut self, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}
