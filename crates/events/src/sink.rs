//! Where events go.

use std::io;

use crate::{Event, Tables};

/// Receives the events of a run, in order: a trace writer, a checker, a counter.
///
/// Rows of `tables` are there before the first event that names them, and never change. After an
/// error, and after [`Sink::finish`], a sink ignores further events, so that callers need not check.
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

    /// Flushes the events so far: they survive if the process is killed now.
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
