//! The lives of processes: many starts at once, kills, orderly ends, limits of the machine.

mod crash;
mod ends;
mod file_crash;
#[cfg(target_os = "linux")]
mod large_file;
mod machine;
mod start;
