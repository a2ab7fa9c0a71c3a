//! Reads a manifest and checks every rule it has to obey.
//!
//! It goes part by part and not in one sweep of serde, so that an error can name the service and
//! the handler it is about.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::{Error, FieldProblem, HandlerProblem, ServiceProblem};
use super::{
    Handler, HandlerType, Manifest, ManifestVersion, ProtocolMode, Service, ServiceType, name,
    rules, schema,
};

const PROTOCOL_VERSIONS: std::ops::RangeInclusive<i64> = 1..=2_147_483_647;

impl Manifest {
    /// Reads what a deployment answered to discovery, given the content type of the answer.
    ///
    /// Whether we speak any of its protocol versions is not asked here; that is
    /// [`Version::negotiate`](crate::version::Version::negotiate).
    ///
    /// # Errors
    /// The first rule that the manifest breaks.
    pub fn parse(content_type: &str, body: &[u8]) -> Result<Manifest, Error> {
        if ManifestVersion::from_content_type(content_type).is_none() {
            return Err(Error::ContentType { seen: content_type.to_owned() });
        }
        let value = serde_json::from_slice(body)
            .map_err(|error| Error::Json { reason: error.to_string() })?;
        let outline: Outline = fields(value, Outline::smallest).map_err(Error::Field)?;
        outline.read()
    }
}

/// The top of a manifest, with the services not yet looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    protocol_mode: Option<ProtocolMode>,
    min_protocol_version: i64,
    max_protocol_version: i64,
    lambda_compression: Option<String>,
    services: Vec<Value>,
}

impl Outline {
    /// A manifest that has only what it must.
    fn smallest() -> Value {
        json!({"minProtocolVersion": 1, "maxProtocolVersion": 1, "services": []})
    }

    fn read(self) -> Result<Manifest, Error> {
        let protocol_mode = self.protocol_mode.ok_or(Error::ProtocolModeMissing)?;
        let (min_protocol_version, max_protocol_version) =
            protocol_range(self.min_protocol_version, self.max_protocol_version)?;
        let mut names = HashSet::new();
        let mut services = Vec::with_capacity(self.services.len());
        for (index, service) in self.services.into_iter().enumerate() {
            let service = read_service(index + 1, service)?;
            if !names.insert(service.name.clone()) {
                return Err(of_service(&service.name)(ServiceProblem::NameTwice));
            }
            services.push(service);
        }
        Ok(Manifest {
            protocol_mode,
            min_protocol_version,
            max_protocol_version,
            lambda_compression: self.lambda_compression,
            services,
        })
    }
}

fn protocol_range(min: i64, max: i64) -> Result<(u32, u32), Error> {
    let number =
        |number| u32::try_from(number).ok().filter(|_| PROTOCOL_VERSIONS.contains(&number));
    match (number(min), number(max)) {
        (Some(min), Some(max)) if min <= max => Ok((min, max)),
        _ => Err(Error::ProtocolRange { min, max }),
    }
}

fn read_service(position: usize, mut value: Value) -> Result<Service, Error> {
    let name = name_of(&value).ok_or(Error::ServiceNameMissing { position })?;
    let wrap = of_service(&name);
    name::check_service(&name).map_err(&wrap)?;
    // The handlers are read one by one; a list that is none is left for serde to complain about.
    let handlers = match value.get_mut("handlers") {
        Some(Value::Array(handlers)) => std::mem::take(handlers),
        _ => vec![],
    };
    let smallest = || json!({"name": "S", "ty": "SERVICE", "handlers": []});
    let mut service: Service =
        fields(value, smallest).map_err(|problem| wrap(ServiceProblem::Field(problem)))?;
    let mut names = HashSet::new();
    for (index, handler) in handlers.into_iter().enumerate() {
        let handler = read_handler(&service, index + 1, handler)?;
        if !names.insert(handler.name.clone()) {
            return Err(of_handler(&name, &handler.name)(HandlerProblem::NameTwice));
        }
        service.handlers.push(handler);
    }
    Ok(service)
}

fn read_handler(service: &Service, position: usize, value: Value) -> Result<Handler, Error> {
    let name = name_of(&value)
        .ok_or(ServiceProblem::HandlerNameMissing { position })
        .map_err(of_service(&service.name))?;
    let wrap = of_handler(&service.name, &name);
    let mut handler: Handler = fields(value, || json!({"name": "h"}))
        .map_err(|problem| wrap(HandlerProblem::Field(problem)))?;
    settle(service, &mut handler).map_err(wrap)?;
    Ok(handler)
}

/// Checks a handler against its service and gives it its type.
fn settle(service: &Service, handler: &mut Handler) -> Result<(), HandlerProblem> {
    name::check_handler(&handler.name)?;
    handler.ty = handler_type(service.ty, handler.ty)?;
    let is_run = handler.ty == HandlerType::Workflow;
    if is_run && handler.options.idempotency_retention_ms.is_some() {
        return Err(HandlerProblem::IdempotencyRetentionOfRun);
    }
    if !is_run && handler.workflow_completion_retention_ms.is_some() {
        return Err(HandlerProblem::CompletionRetentionOfOther);
    }
    let private = |options: &super::Options| options.ingress_private;
    if private(&service.options) == Some(true) && private(&handler.options) == Some(false) {
        return Err(HandlerProblem::PublicInPrivateService);
    }
    check_content_types(handler)?;
    check_schema("input", handler.input.json_schema.as_ref())?;
    check_schema("output", handler.output.json_schema.as_ref())
}

/// `stated` is [`HandlerType::Service`] where the manifest states none.
fn handler_type(service: ServiceType, stated: HandlerType) -> Result<HandlerType, HandlerProblem> {
    use HandlerType as H;
    use ServiceType as S;
    match (service, stated) {
        (S::Service, H::Service | H::Shared) => Ok(H::Service),
        (S::VirtualObject, H::Service | H::Exclusive) => Ok(H::Exclusive),
        (S::VirtualObject, H::Shared) | (S::Workflow, H::Service | H::Shared) => Ok(H::Shared),
        (S::Workflow, H::Workflow) => Ok(H::Workflow),
        (S::Service, H::Exclusive | H::Workflow)
        | (S::VirtualObject, H::Workflow)
        | (S::Workflow, H::Exclusive) => {
            let expected = match service {
                S::Service => "no type",
                S::VirtualObject => "`exclusive` or `shared`",
                S::Workflow => "`workflow` or `shared`",
            };
            Err(HandlerProblem::Type { handler: stated, service, expected })
        }
    }
}

fn check_content_types(handler: &Handler) -> Result<(), HandlerProblem> {
    if let Some(seen) = &handler.input.content_type
        && !rules::is_pattern(seen)
    {
        return Err(HandlerProblem::InputContentType { seen: seen.clone() });
    }
    if let Some(seen) = &handler.output.content_type
        && !rules::is_header_value(seen)
    {
        return Err(HandlerProblem::OutputContentType { seen: seen.clone() });
    }
    Ok(())
}

fn check_schema(side: &'static str, schema: Option<&Value>) -> Result<(), HandlerProblem> {
    let Some(schema) = schema else { return Ok(()) };
    schema::check(schema).map_err(|problem| match problem {
        schema::Problem::NotASchema => HandlerProblem::NotASchema { side },
        schema::Problem::External(reference) => {
            HandlerProblem::ExternalReference { side, reference }
        }
    })
}

fn name_of(value: &Value) -> Option<String> {
    Some(value.get("name")?.as_str()?.to_owned())
}

fn of_service(service: &str) -> impl Fn(ServiceProblem) -> Error {
    move |problem| Error::Service { service: service.to_owned(), problem }
}

fn of_handler(service: &str, handler: &str) -> impl Fn(HandlerProblem) -> Error {
    move |problem| Error::Handler {
        service: service.to_owned(),
        handler: handler.to_owned(),
        problem,
    }
}

/// Reads an object. Serde does not say which field it stumbled over, so that is found by putting
/// each field for itself into an object that is right, the `smallest` one.
fn fields<T: DeserializeOwned>(
    value: Value,
    smallest: impl Fn() -> Value,
) -> Result<T, FieldProblem> {
    let Value::Object(object) = &value else {
        return Err(FieldProblem { field: None, reason: "expected an object".to_owned() });
    };
    let error = match T::deserialize(&value) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let culprit = object.iter().find(|(field, content)| {
        let mut probe = smallest();
        probe[field.as_str()] = (*content).clone();
        T::deserialize(probe).is_err()
    });
    let field = culprit.map(|(field, _)| field.clone());
    Err(FieldProblem { field, reason: error.to_string() })
}
