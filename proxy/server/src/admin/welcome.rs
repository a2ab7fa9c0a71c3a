//! What somebody finds who looks at the admin listener with a browser, or without knowing a route:
//! what this is, and where everything else is.

use super::App;
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Response},
};
use serde_json::json;

/// Route, and what is there.
const ROUTES: [(&str, &str); 9] = [
    ("/holdfast/health", "whether every partition is ready"),
    ("/holdfast/counts", "how many invocations there are, by status, service and deployment"),
    ("/holdfast/invocations", "what is under way, and why each one waits"),
    ("/deployments", "what is registered where; POST {\"uri\": \"http://HOST:PORT\"} registers"),
    ("/services", "services, handlers and settings"),
    ("/query", "POST {\"query\": \"SELECT …\"}: everything that is stored, in SQL"),
    ("/metrics", "for Prometheus"),
    ("/version", "version, and where the ingress is"),
    ("/openapi", "all routes"),
];

const COMMANDS: [(&str, &str); 5] = [
    ("holdfast status", "how it is"),
    ("holdfast deployments register URL", "make the services at URL callable"),
    ("holdfast call Service/handler -d '\"Ada\"'", "call one of them"),
    ("holdfast invocations list", "what is under way, and why it waits"),
    ("holdfast invocations describe ID", "what one did so far"),
];

pub(super) async fn page(State(app): State<App>, headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let ingress = app.config.ingress_endpoint.as_deref();
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        return Html(html(ingress)).into_response();
    }
    let map = |pairs: &[(&str, &str)]| -> serde_json::Map<String, serde_json::Value> {
        pairs.iter().map(|(name, what)| ((*name).to_owned(), (*what).into())).collect()
    };
    Json(json!({
        "holdfast": env!("CARGO_PKG_VERSION"),
        "what": "the admin listener of a Holdfast sidecar",
        "ingress": ingress,
        "routes": map(&ROUTES),
        "commands": map(&COMMANDS),
    }))
    .into_response()
}

fn html(ingress: Option<&str>) -> String {
    let row = |(name, what): &(&str, &str), link: bool| {
        let (name, what) = (escape(name), escape(what));
        let name = if link { format!("<a href=\"{name}\">{name}</a>") } else { name };
        format!("<tr><td><code>{name}</code></td><td>{what}</td></tr>\n")
    };
    let routes: String =
        ROUTES.iter().map(|pair| row(pair, !pair.1.contains("POST {\"q"))).collect();
    let commands: String = COMMANDS.iter().map(|pair| row(pair, false)).collect();
    let ingress = match ingress {
        Some(address) => format!("Callers reach it at <code>{}</code>.", escape(address)),
        None => String::new(),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Holdfast</title>\n\
         <style>body{{font:16px/1.5 system-ui,sans-serif;max-width:52em;margin:3em auto;\
         padding:0 1em}}td{{padding:.1em 1.5em .1em 0;vertical-align:top}}</style></head><body>\n\
         <h1>Holdfast {}</h1>\n<p>This is the admin listener of a sidecar. {ingress}</p>\n\
         <h2>Here</h2>\n<table>\n{routes}</table>\n<h2>From a terminal</h2>\n<table>\n{commands}\
         </table>\n</body></html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_cannot_be_markup() {
        let page = html(Some("http://<script>\""));
        assert!(page.contains("http://&lt;script&gt;&quot;") && !page.contains("<script>"));
    }
}
