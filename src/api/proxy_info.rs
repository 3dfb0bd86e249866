//! Describes the client's route to the service for the user: which proxy it uses and how many root certificates it
//! has. Makes no requests and reveals no proxy password.

use super::address::Address;
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use hyper_util::client::proxy::matcher::Matcher;

/// Which proxy the client uses for the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// The service runs on this computer, so no proxy is used.
    Loopback,
    /// No environment variable sets a usable proxy.
    None,
    /// An environment variable sets a proxy, but `NO_PROXY` excludes the service's host.
    Excluded { variable: &'static str },
    /// Requests go through the proxy that an environment variable sets.
    Through {
        variable: &'static str,
        /// The proxy's scheme, host and port.
        address: CleanText,
        /// Whether the proxy address contains a user or password.
        has_credentials: bool,
    },
}

/// The client's route to the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The host of the service, with the port if the base URL has one.
    pub host: CleanText,
    pub uses_tls: bool,
    pub proxy: Proxy,
    /// Environment variables that contain an unusable proxy address.
    pub unusable_variables: Vec<&'static str>,
}

impl Route {
    /// Returns the route to this service in the environment of this process.
    ///
    /// # Errors
    /// Fails with a message for the user if the base URL can't be used.
    pub fn for_scope(scope: &Scope) -> Result<Self, String> {
        Self::from_variables(scope, |name| std::env::var(name).ok())
    }

    fn from_variables(scope: &Scope, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let address = Address::new(scope).map_err(|error| error.to_string())?;
        let base = address.base();
        let mut route = Self {
            host: base.host().clone(),
            uses_tls: base.is_encrypted(),
            proxy: Proxy::None,
            unusable_variables: Vec::new(),
        };
        if base.loopback().is_some() {
            route.proxy = Proxy::Loopback;
            return Ok(route);
        }
        let no_proxy = ["NO_PROXY", "no_proxy"].into_iter().find_map(&variable).unwrap_or_default();
        // `HTTP_PROXY` has no effect: `http://` is only accepted for this computer, and then no proxy is used.
        for names in [["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]] {
            let Some((name, value)) = names.into_iter().find_map(|name| Some((name, variable(name)?))) else {
                continue;
            };
            let Some(unrestricted) = find_proxy(base.as_str(), &value, "") else {
                route.unusable_variables.extend(Some(name).filter(|_| !value.trim().is_empty()));
                continue;
            };
            route.proxy = match find_proxy(base.as_str(), &value, &no_proxy) {
                Some(_) => unrestricted.into_proxy(name),
                None => Proxy::Excluded { variable: name },
            };
            break;
        }
        Ok(route)
    }
}

/// A proxy address, without the name of the environment variable that contains it.
struct ParsedProxy {
    address: CleanText,
    has_credentials: bool,
}

impl ParsedProxy {
    fn into_proxy(self, variable: &'static str) -> Proxy {
        let Self { address, has_credentials } = self;
        Proxy::Through { variable, address, has_credentials }
    }
}

/// Returns the proxy that the HTTP library uses for the base URL, or `None` if it uses none. `proxy` and `no_proxy` are
/// the values of environment variables.
fn find_proxy(base: &str, proxy: &str, no_proxy: &str) -> Option<ParsedProxy> {
    let matcher = Matcher::builder().https(proxy.to_owned()).no(no_proxy.to_owned()).build();
    let found = matcher.intercept(&base.parse().ok()?)?;
    let (scheme, host) = (found.uri().scheme_str().unwrap_or("http"), found.uri().host()?);
    let port = found.uri().port_u16().map_or_else(String::new, |port| format!(":{port}"));
    let has_credentials = found.basic_auth().is_some() || found.raw_auth().is_some();
    Some(ParsedProxy { address: CleanText::line(&format!("{scheme}://{host}{port}")), has_credentials })
}

/// Returns how many root certificates the client reads from the system, or from `SSL_CERT_FILE` and `SSL_CERT_DIR` if
/// they are set. Returns `None` on systems that verify certificates themselves and don't give a number.
pub fn count_system_root_certificates() -> Option<usize> {
    #[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
    {
        let mut store = rustls::RootCertStore::empty();
        Some(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs).0)
    }
    #[cfg(not(all(unix, not(target_vendor = "apple"), not(target_os = "android"))))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(base_url: &str, variables: &[(&str, &str)]) -> (Proxy, Vec<&'static str>) {
        let scope = Scope { base_url: base_url.into(), project: "p".into(), organization: None };
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let route = Route::from_variables(&scope, value).expect("a way");
        (route.proxy, route.unusable_variables)
    }

    fn through(variable: &'static str, address: &str, has_credentials: bool) -> Proxy {
        Proxy::Through { variable, address: CleanText::line(address), has_credentials }
    }

    #[test]
    fn the_proxy_is_shown_without_its_password() {
        let (found, _) = proxy("https://api.example", &[("HTTPS_PROXY", "http://me:pr0xypw@proxy.example:3128")]);
        assert_eq!(found, through("HTTPS_PROXY", "http://proxy.example:3128", true));
        assert!(!format!("{found:?}").contains("pr0xypw"));
        let (found, _) = proxy("https://api.example", &[("all_proxy", "socks5h://proxy.example:1080")]);
        assert_eq!(found, through("all_proxy", "socks5h://proxy.example:1080", false));
    }

    #[test]
    fn https_proxy_precedes_all_proxy_and_invalid_addresses_are_skipped() {
        let all = ("ALL_PROXY", "http://all.example:1");
        let (found, _) = proxy("https://api.example", &[all, ("https_proxy", "http://https.example:2")]);
        assert_eq!(found, through("https_proxy", "http://https.example:2", false));
        let (found, unusable) = proxy("https://api.example", &[all, ("HTTPS_PROXY", "http://")]);
        assert_eq!((found, unusable), (through("ALL_PROXY", "http://all.example:1", false), vec!["HTTPS_PROXY"]));
    }

    #[test]
    fn this_computer_and_hosts_in_no_proxy_are_reached_directly() {
        let variables = [("HTTPS_PROXY", "http://p.example:1"), ("NO_PROXY", "example.com, 10.0.0.0/8")];
        assert_eq!(proxy("http://127.0.0.1:9", &variables).0, Proxy::Loopback);
        assert_eq!(proxy("https://api.example.com", &variables).0, Proxy::Excluded { variable: "HTTPS_PROXY" });
        assert_eq!(proxy("https://10.1.2.3", &variables).0, Proxy::Excluded { variable: "HTTPS_PROXY" });
        assert_eq!(proxy("https://notexample.com", &variables).0, through("HTTPS_PROXY", "http://p.example:1", false));
        assert_eq!(proxy("https://api.example.com", &[]).0, Proxy::None);
    }
}
