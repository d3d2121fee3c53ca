//! The lives of processes: many starts at once, kills, orderly ends, limits of the machine.

mod crash;
mod ends;
mod machine;
mod start;
