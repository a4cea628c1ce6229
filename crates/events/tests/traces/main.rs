//! Traces in all their forms: what is written is read again, and what is damaged is read as far as it
//! goes.

mod binary;
mod random;
mod resolve;
mod std_form;
mod text;
