//! Requests as text, and who they are for the guard.

use super::*;
use crate::clock::{Manual, System};
use crate::http::{Body, Crowd, client, door, full, listen, read_body};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use holdfast_machine::time::Timestamp;
use http::{Request, Response};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const SCOPES: [String; 0] = [];
const MCP: Resource<'_> = Resource { path: "/mcp", scopes: &SCOPES };
/// 2026-11-30.
const NOW: Timestamp = Timestamp(1_796_000_000_000);
const ISSUER: &str = "https://as.example";

fn guard(config: Config) -> Guard {
    guard_at(config, Arc::new(Manual::new(NOW)))
}

fn guard_at(config: Config, clock: Arc<dyn Clock>) -> Guard {
    assert_eq!(config.problem(), None);
    let client = Client::new(client::Config::default(), CancellationToken::new()).unwrap();
    Guard::new(config, client, clock).unwrap()
}

fn config(toml: &str) -> Config {
    toml::from_str(toml).unwrap()
}

fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn with_token(token: &str) -> Parts {
    let value = format!("Bearer {token}");
    head("/mcp", &[("host", "localhost"), ("authorization", &value)])
}

#[tokio::test]
async fn strange_hosts_and_origins_are_refused() {
    let guard = guard(config(
        "public_url = 'https://hf.example'\nhosts = ['box']\norigins = ['https://app.example']",
    ));
    let check = |host: &str, origin: &str| {
        let headers = [("host", host), ("origin", origin)];
        let headers = if origin.is_empty() { &headers[..1] } else { &headers[..] };
        guard.place(&head("/mcp", headers)).map_err(|refusal| refusal.code())
    };
    for host in
        ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:9", "[::1]", "box:1", "hf.example"]
    {
        assert_eq!(check(host, ""), Ok(()), "{host}");
    }
    for host in ["evil.example", "localhost.evil.example:8080", "192.168.0.1", "", "[::2]:1"] {
        assert_eq!(check(host, ""), Err("HF0220"), "{host}");
    }
    let origins = [
        "http://localhost",
        "https://localhost:3000",
        "http://127.0.0.1:1",
        "http://[::1]:1",
        "https://app.example",
        "https://hf.example",
    ];
    for origin in origins {
        assert_eq!(check("localhost", origin), Ok(()), "{origin}");
    }
    let strange = [
        "http://evil.example",
        "null",
        "http://app.example",
        "file://localhost",
        "https://app.example:1",
    ];
    for origin in strange {
        assert_eq!(check("localhost", origin), Err("HF0221"), "{origin}");
    }
    let twice = [("host", "localhost"), ("host", "evil.example")];
    assert!(guard.place(&head("/mcp", &twice)).is_err(), "two hosts");
    let differs = [("host", "localhost")];
    assert!(guard.place(&head("http://evil.example/mcp", &differs)).is_err(), "HTTP/2 names both");
    assert!(guard.place(&head("http://localhost:1/mcp", &[])).is_ok(), "HTTP/2 names one");
}

#[tokio::test]
async fn a_list_of_tokens() {
    let hash = "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90";
    let guard = guard(config(&format!(
        "[[tokens]]\nprincipal = 'ada'\ntoken = 's3cret'\n\
         [[tokens]]\nprincipal = 'bob'\ntoken_sha256 = '{hash}'\nscopes = ['tools:call']"
    )));
    assert!(!guard.is_open());
    let scopes = ["tools:call".to_owned(), "more".to_owned()];
    let ask = async |token: &str, resource: Resource<'_>| {
        let caller = guard.caller(&with_token(token), &resource).await;
        caller.map(|caller| caller.principal.to_string()).map_err(|refusal| {
            let challenge = refusal.challenge().unwrap().to_str().unwrap().to_owned();
            format!("{} {challenge}", refusal.status().as_u16())
        })
    };
    let one = Resource { path: "/mcp", scopes: &scopes[..1] };
    let both = Resource { path: "/mcp", scopes: &scopes };
    assert_eq!(ask("s3cret", both).await.as_deref(), Ok("token:ada"));
    assert_eq!(
        ask("b", one).await,
        Err("401 Bearer error=\"invalid_token\", scope=\"tools:call\"".into())
    );
    assert_eq!(ask("alice", MCP).await.as_deref(), Ok("token:bob"), "its hash is in the list");
    assert_eq!(
        ask("alice", both).await,
        Err("403 Bearer error=\"insufficient_scope\", scope=\"tools:call more\"".into())
    );
    let nothing = guard.caller(&head("/mcp", &[]), &MCP).await.unwrap_err();
    assert_eq!(nothing.challenge().unwrap(), "Bearer realm=\"holdfast\"");
    let basic = head("/mcp", &[("authorization", "Basic s3cret")]);
    assert_eq!(guard.caller(&basic, &MCP).await.unwrap_err().code(), "HF0222");
    assert!(guard.metadata(&basic, &MCP).is_none(), "there is no issuer");
}

fn from(peer: &str, headers: &[(&str, &str)]) -> Parts {
    let mut head = head("/mcp", headers);
    head.extensions.insert(Peer(peer.parse().unwrap()));
    head
}

#[tokio::test]
async fn without_tokens_everybody_is_anonymous() {
    let guard = guard(Config::default());
    let here = from("127.0.0.1:5", &[("host", "localhost")]);
    let caller = guard.caller(&here, &MCP).await.unwrap();
    assert_eq!(caller, Caller { principal: Principal::anonymous(), is_local: true });
    let elsewhere = from("192.168.0.2:5", &[("host", "localhost")]);
    assert!(!guard.caller(&elsewhere, &MCP).await.unwrap().is_local);
}

#[tokio::test]
async fn who_comes_through_a_proxy_on_this_machine_is_not_local() {
    let plain = guard(config("hosts = ['*']"));
    for (peer, host) in [("127.0.0.1:5", "localhost:8080"), ("[::1]:5", "[::1]:8080")] {
        assert!(plain.is_local(&from(peer, &[("host", host)])), "{host}");
    }
    assert!(!plain.is_local(&head("/mcp", &[("host", "localhost")])), "nobody knows from where");
    for host in ["hf.example", "192.168.0.2:8080", "localhost.example"] {
        assert!(!plain.is_local(&from("127.0.0.1:5", &[("host", host)])), "{host}");
    }
    for name in ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP"] {
        let passed_on = from("127.0.0.1:5", &[("host", "localhost"), (name, "x")]);
        assert!(!plain.is_local(&passed_on), "{name}");
    }
    let here = from("127.0.0.1:5", &[("host", "localhost")]);
    assert!(!guard(config("public_url = 'https://hf.example'")).is_local(&here));
    assert!(guard(config("public_url = 'http://localhost:8080'")).is_local(&here));
    assert!(guard(config("public_url = 'http://[::1]:8080'")).is_local(&here));
}

#[test]
fn tokens_are_written_as_their_hash() {
    let written =
        toml::to_string(&config("[[tokens]]\nprincipal = 'ada'\ntoken = 's3cret'")).unwrap();
    assert!(written.contains("token_sha256"), "{written}");
    assert!(!written.contains("s3cret"), "{written}");
    let read: Config = toml::from_str(&written).unwrap();
    assert_eq!(read.tokens[0].principal, "ada");
    for wrong in [
        "token = ''",
        "token = 'a b'",
        "token_sha256 = 'xyz'",
        "",
        "token = 'a'\ntoken_sha256 = 'b'",
    ] {
        let text = format!("[[tokens]]\nprincipal = 'ada'\n{wrong}");
        assert!(toml::from_str::<Config>(&text).is_err(), "{wrong}");
    }
}

// --- signed tokens

/// Signs tokens with keys of its own.
struct Issuer {
    ed25519: Ed25519KeyPair,
    p256: EcdsaKeyPair,
}

impl Issuer {
    fn new() -> Issuer {
        let random = SystemRandom::new();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Issuer {
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap(),
            p256: EcdsaKeyPair::from_pkcs8(
                &ECDSA_P256_SHA256_FIXED_SIGNING,
                p256.as_ref(),
                &random,
            )
            .unwrap(),
        }
    }

    fn keys(&self) -> Value {
        let point = self.p256.public_key().as_ref();
        let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
        let ed = BASE64.encode(self.ed25519.public_key());
        json!({ "keys": [
            { "kty": "OKP", "crv": "Ed25519", "kid": "e1", "x": ed, "use": "sig", "alg": "EdDSA" },
            { "kty": "EC", "crv": "P-256", "kid": "p1", "x": x, "y": y },
            { "kty": "RSA", "kid": "r1", "n": RSA_N, "e": "AQAB" },
            { "kty": "oct", "kid": "o1", "k": "c2VjcmV0" },
            { "kty": "OKP", "crv": "Ed25519", "kid": "enc", "x": ed, "use": "enc" },
            7,
        ] })
    }

    fn token(&self, header: Value, claims: &Value) -> String {
        let signed =
            format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
        let signature = match header["alg"].as_str() {
            Some("ES256") => {
                self.p256.sign(&SystemRandom::new(), signed.as_bytes()).unwrap().as_ref().to_vec()
            }
            _ => self.ed25519.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", BASE64.encode(signature))
    }

    fn eddsa(&self, claims: &Value) -> String {
        self.token(json!({ "alg": "EdDSA", "kid": "e1" }), claims)
    }
}

fn claims(changes: Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "sub": "ada", "aud": ["x", "https://hf.example/mcp"],
        "exp": NOW.0 / 1000 + 60, "scope": "tools:call more", "client_id": "desk",
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn with_keys(keys: &Value, extra: &str) -> (Guard, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), keys.to_string()).unwrap();
    let guard = guard(config(&format!(
        "public_url = 'https://hf.example'\n[jwt]\nissuer = '{ISSUER}'\njwks_file = '{}'\n{extra}",
        file.path().display()
    )));
    (guard, file)
}

async fn verdict(guard: &Guard, token: &str) -> String {
    match guard.caller(&with_token(token), &MCP).await {
        Ok(caller) => caller.principal.to_string(),
        Err(Refusal::BadToken { reason, .. }) => reason.to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

#[tokio::test]
async fn signed_tokens_are_checked() {
    let issuer = Issuer::new();
    let (guard, _file) = with_keys(&issuer.keys(), "");
    let good = "jwt:https://as.example|ada";
    assert_eq!(verdict(&guard, &issuer.eddsa(&claims(json!({})))).await, good);
    let es256 = issuer.token(json!({ "alg": "ES256", "kid": "p1" }), &claims(json!({})));
    assert_eq!(verdict(&guard, &es256).await, good);
    assert_eq!(verdict(&guard, RS256_TOKEN).await, good);
    let below = Resource { path: "/mcp/Shop", scopes: &SCOPES };
    let for_door = with_token(&issuer.eddsa(&claims(json!({}))));
    assert!(guard.caller(&for_door, &below).await.is_ok(), "a token for the door");
    let for_shop = claims(json!({ "aud": "https://hf.example/mcp/Shop" }));
    let for_shop = with_token(&issuer.eddsa(&for_shop));
    assert!(guard.caller(&for_shop, &below).await.is_ok(), "a token for the service");
    assert!(guard.caller(&for_shop, &MCP).await.is_err(), "which is not one for the door");
    let nameless = issuer.token(json!({ "alg": "EdDSA" }), &claims(json!({})));
    assert_eq!(verdict(&guard, &nameless).await, good, "the key that fits is found");
    let cases = [
        (json!({ "exp": NOW.0 / 1000 - 61 }), "it has expired"),
        (json!({ "exp": NOW.0 / 1000 - 30 }), good),
        (json!({ "exp": null }), "it never expires"),
        (json!({ "nbf": NOW.0 / 1000 + 61 }), "it is not valid yet"),
        (json!({ "iss": "https://other.example" }), "it is made by another issuer"),
        (json!({ "aud": "https://hf.example" }), "it is made for another audience"),
        (json!({ "aud": null }), "it is made for another audience"),
        (json!({ "sub": null }), "jwt-client:https://as.example|desk"),
        (json!({ "sub": "desk" }), "jwt:https://as.example|desk"),
        (json!({ "sub": null, "client_id": null }), "it does not say for whom it stands"),
        (json!({ "sub": 7 }), "its claims cannot be read"),
    ];
    for (changes, expected) in cases {
        assert_eq!(
            verdict(&guard, &issuer.eddsa(&claims(changes.clone()))).await,
            expected,
            "{changes}"
        );
    }
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let issuer = Issuer::new();
    let (guard, _file) = with_keys(&issuer.keys(), "");
    let good = issuer.eddsa(&claims(json!({})));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, _) = signed.split_once('.').unwrap();
    let other = BASE64.encode(claims(json!({ "sub": "eve" })).to_string());
    let wrong = "its signature is wrong";
    assert_eq!(verdict(&guard, &format!("{header}.{other}.{signature}")).await, wrong);
    assert_eq!(verdict(&guard, &format!("{signed}.")).await, wrong);
    assert_eq!(verdict(&guard, &Issuer::new().eddsa(&claims(json!({})))).await, wrong);
    let no_key = "it is signed with a key that its issuer does not have";
    let alg = "its algorithm is not the one of the key";
    let headers = [
        (json!({ "alg": "none" }), alg),
        (json!({ "alg": "HS256", "kid": "e1" }), alg),
        (json!({ "alg": "EdDSA", "kid": "p1" }), alg),
        (json!({ "alg": "EdDSA", "kid": "o1" }), no_key),
        (json!({ "alg": "EdDSA", "kid": "enc" }), no_key),
        (
            json!({ "alg": "EdDSA", "kid": "e1", "crit": ["x"] }),
            "it has extensions that must be understood",
        ),
    ];
    for (header, expected) in headers {
        let token = issuer.token(header.clone(), &claims(json!({})));
        assert_eq!(verdict(&guard, &token).await, expected, "{header}");
    }
    for text in ["x", "a.b.c", "..", &"x".repeat(TOKEN_BYTES_MAX + 1)] {
        assert!(verdict(&guard, text).await.starts_with("it is"), "{text}");
    }
}

#[tokio::test]
async fn clients_and_scopes_of_signed_tokens() {
    let issuer = Issuer::new();
    let (guard, _file) = with_keys(&issuer.keys(), "by_client = true\naudiences = ['aud']");
    let token = issuer.eddsa(&claims(json!({ "aud": "aud", "scp": ["never", "read"] })));
    let head = with_token(&token);
    let ask = async |scopes: &[&str]| {
        let scopes: Vec<String> = scopes.iter().map(|it| (*it).to_owned()).collect();
        let resource = Resource { path: "/mcp", scopes: &scopes };
        guard.caller(&head, &resource).await.map(|caller| caller.principal.to_string())
    };
    assert_eq!(ask(&["tools:call"]).await.unwrap(), "jwt:https://as.example|ada|desk");
    let refusal = ask(&["tools:call", "admin"]).await.unwrap_err();
    assert_eq!(
        refusal.challenge().unwrap(),
        "Bearer error=\"insufficient_scope\", scope=\"tools:call admin\", \
         resource_metadata=\"https://hf.example/.well-known/oauth-protected-resource/mcp\""
    );
    let nothing = guard.caller(&super::tests::head("/mcp", &[]), &MCP).await.unwrap_err();
    assert_eq!(
        nothing.challenge().unwrap(),
        "Bearer resource_metadata=\"https://hf.example/.well-known/oauth-protected-resource/mcp\""
    );
    let document = guard.metadata(&head, &MCP).unwrap();
    let document = read_body(document.into_body(), 1000).await.unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        document,
        json!({
            "resource": "https://hf.example/mcp", "authorization_servers": [ISSUER],
            "scopes_supported": [], "bearer_methods_supported": ["header"],
        })
    );
}

/// Serves what `keys` says, and counts how often it was asked.
async fn key_server(
    keys: Arc<std::sync::Mutex<Value>>,
) -> (String, Arc<AtomicUsize>, CancellationToken) {
    let listener = listen::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/keys", listener.address());
    let (asked, shutdown) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
    let count = asked.clone();
    let answer = move |request| {
        let _: Request<Body> = door::boxed(request);
        count.fetch_add(1, Relaxed);
        let keys = keys.lock().unwrap().clone();
        async move {
            let mut response = Response::new(full(keys.to_string()));
            if keys.is_null() {
                *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
            }
            response
        }
    };
    tokio::spawn(listen::serve(
        listener,
        listen::Config::default(),
        answer,
        Crowd::new(0),
        shutdown.clone(),
    ));
    (url, asked, shutdown)
}

#[tokio::test]
async fn keys_are_fetched_and_kept() {
    let (old, new) = (Issuer::new(), Issuer::new());
    let keys = Arc::new(std::sync::Mutex::new(Value::Null));
    let (url, asked, _shutdown) = key_server(keys.clone()).await;
    let clock = Arc::new(Manual::new(NOW));
    let guard = guard_at(
        config(&format!(
            "public_url = 'https://hf.example'\n[jwt]\nissuer = '{ISSUER}'\njwks_url = '{url}'\n\
         fetch_interval_ms = 1000\nkeys_fresh_ms = 60000\nkeys_stale_ms = 120000"
        )),
        clock.clone(),
    );
    let later = claims(json!({ "exp": NOW.0 / 1000 + 3600 }));
    let token = old.eddsa(&later);
    let count = || asked.load(Relaxed);
    assert!(verdict(&guard, &token).await.starts_with("KeysUnavailable"));
    *keys.lock().unwrap() = old.keys();
    assert!(verdict(&guard, &token).await.starts_with("KeysUnavailable"), "not so soon again");
    assert_eq!(count(), 1);
    clock.advance(Duration::from_secs(2));
    for _ in 0..5 {
        assert_eq!(verdict(&guard, &token).await, "jwt:https://as.example|ada");
    }
    assert_eq!(count(), 2);
    // A key that is not known makes them be fetched, but not each time.
    clock.advance(Duration::from_secs(2));
    let mut renamed = new.keys();
    renamed["keys"][0]["kid"] = json!("e2");
    *keys.lock().unwrap() = renamed;
    let second = new.token(json!({ "alg": "EdDSA", "kid": "e2" }), &later);
    assert_eq!(verdict(&guard, &second).await, "jwt:https://as.example|ada");
    let unknown = new.token(json!({ "alg": "EdDSA", "kid": "e3" }), &later);
    for _ in 0..5 {
        assert!(verdict(&guard, &unknown).await.ends_with("does not have"));
    }
    assert_eq!(count(), 3);
    // Where the issuer cannot be reached, keys are good for a while.
    *keys.lock().unwrap() = Value::Null;
    clock.advance(Duration::from_secs(70));
    assert_eq!(verdict(&guard, &second).await, "jwt:https://as.example|ada");
    assert_eq!(count(), 4);
    clock.advance(Duration::from_secs(70));
    for _ in 0..2 {
        assert_eq!(verdict(&guard, &second).await, "KeysUnavailable", "also a moment later");
    }
    assert_eq!(count(), 5);
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_stop_a_fetch() {
    let issuer = Issuer::new();
    let listener = listen::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/keys", listener.address());
    let (asked, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Semaphore::new(0)));
    let (count, open, keys) = (asked.clone(), gate.clone(), issuer.keys().to_string());
    let answer = move |request| {
        let _: Request<Body> = door::boxed(request);
        count.fetch_add(1, Relaxed);
        let (open, keys) = (open.clone(), keys.clone());
        async move {
            open.acquire().await.unwrap().forget();
            Response::new(full(keys))
        }
    };
    let shutdown = CancellationToken::new();
    tokio::spawn(listen::serve(
        listener,
        listen::Config::default(),
        answer,
        Crowd::new(0),
        shutdown.clone(),
    ));
    let guard = guard(config(&format!(
        "public_url = 'https://hf.example'\n[jwt]\nissuer = '{ISSUER}'\njwks_url = '{url}'"
    )));
    let token = issuer.eddsa(&claims(json!({})));
    let first = tokio::spawn({
        let (guard, token) = (guard.clone(), token.clone());
        async move { verdict(&guard, &token).await }
    });
    while asked.load(Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    gate.add_permits(1);
    assert_eq!(verdict(&guard, &token).await, "jwt:https://as.example|ada");
    assert_eq!(asked.load(Relaxed), 1);
}

#[test]
fn a_file_without_keys_is_told() {
    let client = || Client::new(client::Config::default(), CancellationToken::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in ["", "{}", r#"{"keys":[{"kty":"oct","k":"x"}]}"#] {
        std::fs::write(file.path(), text).unwrap();
        let jwt = Jwt { jwks_file: Some(file.path().into()), ..Jwt::default() };
        let config = Config { jwt: Some(jwt), ..Config::default() };
        let guard = Guard::new(config, client(), Arc::new(System::new()));
        assert_eq!(guard.err().unwrap().code(), "HF0226", "{text}");
    }
}

/// Made once with openssl; nobody has the key any more.
const RSA_N: &str = concat!(
    "pO18nMXznPvt0qyjmB8WqwEumryvHLV0Wzq2he94AvBvDAe-tsF2KanlAgts3hJSpGBt2uUH-pwbDeAC7U2M0sQt",
    "JvfpSFrL4pkazDV_n40hGd266ejN4Slwc6h-YPuLXqZfg9eVbPf77ivxD2oquHf2tQ8hcrOsm037kTTvC5dllg-u",
    "uswFKQsLSaKNsRQXuRTMrSYf94fQtIFuymZc10q4JEwalQ4uZOjqZ0bh_BfdV3KCvkby05K06VosJJ0f5OgLpGTh",
    "ANgIWSVIKPQP2lQlnGR7VmLkWVTupK0J-Ws-8y7XXAMvz1LRN2TBh_YvH9-4ZITgg67qX1ztzHvjhQ",
);
const RS256_TOKEN: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.eyJpc3MiOiJodHRwczovL2FzLmV4YW1wbGUiLCJzdWIiOiJhZGEi",
    "LCJhdWQiOiJodHRwczovL2hmLmV4YW1wbGUvbWNwIiwiZXhwIjoyMDAwMDAwMDAwLCJzY29wZSI6InRvb2xzOmNh",
    "bGwgbW9yZSJ9.hTDZQu28HHsR8Cx3IECUj-5gIa1x7F_7SwOjE2UT0YRwa6cg9TXkYDq5RtC0tcoNVdEHGsyMUb8",
    "ALd8k9AgtuQ6GJfoj2_sbudXuXht2CqEwl-WoOKJwPFim_LaGWpZmW0LOHUIgvEViHgQCF6GpQWifyqsR8AwJDLD",
    "VTIEyii8C2tAMg3qwBMdaMkhddV67MipKYwfM9kEu6jyCxBA1G1eYuF7b_KX4id-q4OEK2NQZMBCkjQYR5ztnijr",
    "8eiaUFHivGyqnbqXsugkujaItjIm_AF3V5qKeYU350gkKlP1PGRRkOmZSoj2Ea3VkTblWQsJRyiZtjtHKtXy8Asg",
    "kPQ",
);
