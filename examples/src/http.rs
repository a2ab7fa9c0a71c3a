//! HTTP/1.1 requests in one line. Connections are pooled, so that thousands of small requests do
//! not use up the ports of the machine. Must never retry: who calls decides what a failure means.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

/// Whatever may go wrong between here and an answer.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A pool of connections to anywhere.
#[derive(Clone)]
pub struct Http(Client<HttpConnector, Full<Bytes>>);

impl Default for Http {
    fn default() -> Self {
        Self(Client::builder(TokioExecutor::new()).build(HttpConnector::new()))
    }
}

impl Http {
    /// The whole body of a GET; an error unless the status is 2xx.
    pub async fn get(&self, url: &str) -> Result<Bytes, Error> {
        self.request(Method::GET, url, &[], Bytes::new()).await
    }

    /// The whole body of the answer to a POST of JSON; an error unless the status is 2xx.
    pub async fn post(&self, url: &str, json: &serde_json::Value) -> Result<Bytes, Error> {
        self.post_with(url, &[(ACCEPT.as_str(), JSON)], json).await
    }

    /// As `post`, with headers of its own.
    ///
    /// # Errors
    /// As `post`.
    pub async fn post_with(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        json: &serde_json::Value,
    ) -> Result<Bytes, Error> {
        self.request(Method::POST, url, headers, json.to_string().into()).await
    }

    async fn request(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Bytes, Error> {
        let mut request = Request::builder().method(&method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, JSON);
        }
        let answer = self.0.request(request.body(Full::new(body))?).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        if status.is_success() { Ok(body) } else { Err(refused(&method, url, status, &body)) }
    }
}

const JSON: &str = "application/json";

fn refused(method: &Method, url: &str, status: StatusCode, body: &[u8]) -> Error {
    format!("{method} {url} answered {status}: {}", String::from_utf8_lossy(body)).into()
}
