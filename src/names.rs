//! Enums whose variants have a name in the grammar files.
//!
//! The names are the only tie between the grammar and the code: [`named_enum!`] lists each variant
//! with its name once, and the loader refuses a grammar that uses a name which is not listed.

/// Declares an enum together with the name that each variant has outside Rust.
///
/// Gives the enum `ALL` (every variant in the order written), `name` and `from_name`.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility enum $name {
            $( $(#[$variant_meta])* $variant ),+
        }

        impl $name {
            /// Every variant, in the order in which they are written.
            pub const ALL: &'static [$name] = &[ $( $name::$variant ),+ ];

            /// The name that the grammar and the displays use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( $name::$variant => $text ),+ }
            }

            /// The variant of that name, if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $( $text => Some($name::$variant), )+ _ => None }
            }
        }
    };
}

pub(crate) use named_enum;
