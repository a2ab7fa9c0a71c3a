//! What the endpoint says of itself when it is discovered.

use super::Inside;
use holdfast_wire::manifest::{
    Handler, Manifest, ManifestVersion, Options, ProtocolMode, RetryPolicy, Service,
};
use holdfast_wire::version::Version;

/// Why there is no manifest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error(
        "this service writes its manifest in versions 2 to 4, and none of them is among what is \
         accepted; update the sidecar"
    )]
    NotAcceptable,
    #[error(
        "`{of}` has {what}, which manifests know from version {needed:?} on, but version {asked:?} \
         was asked for; update the sidecar, or remove the option"
    )]
    TooOld { of: String, what: &'static str, needed: ManifestVersion, asked: ManifestVersion },
}

/// The newest version of the manifest that is accepted; without a header the oldest.
pub(super) fn negotiate(accept: Option<&str>) -> Result<ManifestVersion, Refusal> {
    let Some(accept) = accept else {
        return Ok(ManifestVersion::V2);
    };
    let ours = [ManifestVersion::V4, ManifestVersion::V3, ManifestVersion::V2];
    let accepted = |version: &ManifestVersion| accept.contains(version.content_type());
    ours.into_iter().find(accepted).ok_or(Refusal::NotAcceptable)
}

/// The manifest, if that version can say everything.
pub(super) fn manifest(
    inside: &Inside,
    version: ManifestVersion,
    streaming: bool,
) -> Result<Manifest, Refusal> {
    for service in &inside.manifest {
        check(version, service)?;
    }
    let versions = Version::range();
    Ok(Manifest {
        protocol_mode: match streaming && inside.streaming {
            true => ProtocolMode::BidiStream,
            false => ProtocolMode::RequestResponse,
        },
        min_protocol_version: *versions.start(),
        max_protocol_version: *versions.end(),
        lambda_compression: None,
        services: inside.manifest.clone(),
    })
}

fn check(asked: ManifestVersion, service: &Service) -> Result<(), Refusal> {
    check_options(asked, &service.name, &service.options)?;
    for handler in &service.handlers {
        let of = format!("{}/{}", service.name, handler.name);
        check_options(asked, &of, &handler.options)?;
        let Handler { workflow_completion_retention_ms, .. } = handler;
        let retention = workflow_completion_retention_ms.is_some();
        check_one(asked, ManifestVersion::V3, &of, retention, "a completion retention")?;
    }
    Ok(())
}

fn check_options(asked: ManifestVersion, of: &str, options: &Options) -> Result<(), Refusal> {
    let since_3 = [
        (options.inactivity_timeout_ms.is_some(), "an inactivity timeout"),
        (options.abort_timeout_ms.is_some(), "an abort timeout"),
        (options.journal_retention_ms.is_some(), "a journal retention"),
        (options.idempotency_retention_ms.is_some(), "an idempotency retention"),
        (options.enable_lazy_state.is_some(), "lazy state"),
        (options.ingress_private.is_some(), "a say in who may call it"),
    ];
    for (set, what) in since_3 {
        check_one(asked, ManifestVersion::V3, of, set, what)?;
    }
    let retries = options.retry != RetryPolicy::default();
    check_one(asked, ManifestVersion::V4, of, retries, "a retry policy")
}

fn check_one(
    asked: ManifestVersion,
    needed: ManifestVersion,
    of: &str,
    set: bool,
    what: &'static str,
) -> Result<(), Refusal> {
    match set && asked < needed {
        true => Err(Refusal::TooOld { of: of.to_owned(), what, needed, asked }),
        false => Ok(()),
    }
}
