/// Declares an enum whose values have names, such as the words of a scenario file.
///
/// ```
/// ropewalk_quantities::named! {
///     /// IP version.
///     pub enum IpVersion {
///         /// RFC 791.
///         V4 = "ipv4",
///         /// RFC 8200.
///         V6 = "ipv6",
///     }
/// }
///
/// assert_eq!(IpVersion::ALL.map(IpVersion::name), ["ipv4", "ipv6"]);
/// assert_eq!(IpVersion::from_name("ipv6"), Some(IpVersion::V6));
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* $vis:vis enum $type:ident {
        $($(#[$of_value:meta])* $value:ident = $name:expr,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$of_value])* $value,)+
        }

        impl $type {
            /// All values, in the order of the documentation.
            $vis const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// Returns the name of the value.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// Returns the value of this name.
            #[must_use]
            $vis fn from_name(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
