//! What comes of a run when something goes wrong around it.
