//! A caller: one connection over HTTP/1.1 and one request at a time, so that what is measured is the
//! server and not its client.

use crate::Failure;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// No call of a benchmark takes longer, unless something is wrong.
const CALL_MAX: Duration = Duration::from_secs(60);

/// One connection.
pub struct Caller {
    base: Uri,
    sender: http1::SendRequest<Full<Bytes>>,
    connection: JoinHandle<()>,
}

impl Caller {
    /// Connects to an address like `http://127.0.0.1:8080`.
    pub async fn connect(base: &str) -> Result<Caller, Failure> {
        let base: Uri = base.parse().map_err(|error| format!("`{base}`: {error}"))?;
        if base.scheme_str() != Some("http") {
            return Err(format!("`{base}`: expected an address with http://").into());
        }
        let authority = base.authority().ok_or_else(|| format!("`{base}` has no host"))?;
        let port = authority.port_u16().unwrap_or(80);
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let stream = TcpStream::connect((host, port))
            .await
            .map_err(|error| format!("cannot connect to {base}: {error}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(async move { drop(connection.await) });
        Ok(Caller { base, sender, connection })
    }

    /// The body of the answer to a POST; an error unless it is 2xx. Nothing has no content type.
    pub async fn post(
        &mut self,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Bytes, Failure> {
        let authority = self.base.authority().map_or("", |authority| authority.as_str());
        let prefix = self.base.path().trim_end_matches('/');
        let mut request = Request::post(format!("{prefix}{path}")).header("host", authority);
        if !body.is_empty() {
            request = request.header("content-type", content_type);
        }
        let request = request.body(Full::new(body))?;
        let exchange = async {
            self.sender.ready().await?;
            let answer = self.sender.send_request(request).await?;
            let status = answer.status();
            let body = answer.into_body().collect().await?.to_bytes();
            Ok::<_, hyper::Error>((status, body))
        };
        let (status, body) = tokio::time::timeout(CALL_MAX, exchange)
            .await
            .map_err(|_| format!("no answer to POST {path} within {CALL_MAX:?}"))??;
        match status.is_success() {
            true => Ok(body),
            false => {
                let said = String::from_utf8_lossy(&body);
                Err(format!("POST {path} answered {status}: {said}").into())
            }
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
