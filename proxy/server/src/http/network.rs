//! Which addresses are anybody's: those that no network keeps for itself. Never looks a name up.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// Why an address is not one of the public internet; `None`: it is.
pub fn not_public(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => v4(ip),
        IpAddr::V6(ip) => v6(ip),
    }
}

fn v4(ip: Ipv4Addr) -> Option<&'static str> {
    Some(match ip.octets() {
        [127, ..] => "it is a loopback address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "it is a private address",
        [169, 254, ..] => "it is a link-local address",
        [100, 64..=127, ..] => "it is an address of a carrier's own network",
        [0, ..] => "it is no address of a host",
        [224..=239, ..] => "it is a multicast address",
        [192, 0, 0, _] | [198, 18 | 19, ..] | [240..=255, ..] => "it is a reserved address",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            "it is an address of documentation"
        }
        _ => return None,
    })
}

fn v6(ip: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = carried(ip) {
        return v4(inner);
    }
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "it is no address of a host",
        [0, 0, 0, 0, 0, 0, 0, 1] => "it is a loopback address",
        [0, 0, 0, 0, 0, 0, ..] => "it is a reserved address",
        [0xfc00..=0xfdff, ..] => "it is a private address",
        [0xfe80..=0xfebf, ..] => "it is a link-local address",
        [0xfec0..=0xfeff, ..] => "it is a private address",
        [0xff00..=0xffff, ..] => "it is a multicast address",
        [0x2001, 0x0db8, ..] => "it is an address of documentation",
        [0x2001, 0, ..] | [0x0100, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] => {
            "it is a reserved address"
        }
        _ => return None,
    })
}

/// The IPv4 address that an IPv6 address leads to.
fn carried(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

/// Addresses with the same beginning, as in `10.0.0.0/8`; one alone is written without the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    /// Leading bits that count.
    bits: u8,
}

impl Network {
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = match ip {
            IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(ip, IpAddr::V4),
            IpAddr::V4(_) => ip,
        };
        match (self.base, ip) {
            (IpAddr::V4(base), IpAddr::V4(ip)) => {
                let shift = 32 - u32::from(self.bits);
                base.to_bits().checked_shr(shift) == ip.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(base), IpAddr::V6(ip)) => {
                let shift = 128 - u32::from(self.bits);
                base.to_bits().checked_shr(shift) == ip.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Network, &'static str> {
        const WRONG: &str = "it is neither an address nor a network such as 10.0.0.0/8";
        let (base, bits) = match text.split_once('/') {
            Some((base, bits)) => (base, Some(bits.parse::<u8>().map_err(|_| WRONG)?)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| WRONG)?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        match bits.unwrap_or(most) {
            bits if bits <= most => Ok(Network { base, bits }),
            _ => Err(WRONG),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

impl serde::Serialize for Network {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Network {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Network, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|wrong| serde::de::Error::custom(format!("`{text}`: {wrong}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are() {
        let public = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"];
        for text in public.into_iter().chain(["::ffff:8.8.8.8", "2002:0808:0808::1"]) {
            assert_eq!(not_public(text.parse().unwrap()), None, "{text}");
        }
        let others = [
            "127.0.0.1",
            "127.255.1.1",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "::",
            "::1",
            "::127.0.0.1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
        ];
        for text in others {
            assert!(not_public(text.parse().unwrap()).is_some(), "{text}");
        }
    }

    #[test]
    fn a_network_has_a_length() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        let holds = |text: &str, ip: &str| network(text).contains(ip.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("10.1.2.3", "10.1.2.3") && !holds("10.1.2.3", "10.1.2.4"));
        assert!(holds("0.0.0.0/0", "255.1.1.1") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("127.0.0.0/8", "::ffff:127.0.0.1"), "it leads there");
        assert!(holds("fd00::/8", "fd12::1") && !holds("fd00::/8", "fe80::1"));
        assert!(holds("::/0", "::1"));
        assert_eq!(network("127.0.0.1").to_string(), "127.0.0.1/32");
        for wrong in ["", "localhost", "10.0.0.0/33", "10.0.0.0/x", "::/129", "10.0.0/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        let read: Vec<Network> = serde_json::from_str(r#"["10.0.0.0/8"]"#).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"["10.0.0.0/8"]"#);
        assert!(serde_json::from_str::<Network>("\"x\"").is_err());
    }
}
