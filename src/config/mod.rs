//! The statement tree: the truth about what was typed.

mod addresses;
pub mod capture;
pub mod check;
mod claims;
pub mod delimited;
pub mod edit;
mod interfaces;
pub mod load;
pub mod references;
pub mod render;
pub mod saved;
pub mod tree;
#[cfg(test)]
mod work;
