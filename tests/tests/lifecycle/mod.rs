//! The lives of processes: many starts at once, kills, orderly ends, limits of the machine.

mod crash;
mod ends;
mod large_file;
mod machine;
mod start;
