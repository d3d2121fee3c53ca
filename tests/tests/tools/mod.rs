//! Each tool used well, and refused.

mod attributes;
mod creating;
mod documentation;
mod editing;
mod files;
mod links;
mod listing;
mod reading;
mod search;
mod surface;
mod tags;
mod versions;
