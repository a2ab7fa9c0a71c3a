//! Which deployment a resumed or restarted invocation goes on with. The version of the service
//! protocol never changes with it.

use super::{App, error::Error, invocations::Choice};
use crate::query::Pinned;
use crate::registry::Schema;
use holdfast_machine::{
    id::{DeploymentId, InvocationId},
    model::Pin,
};

/// What `deployment=` can say.
enum Wanted {
    Keep,
    Latest,
    This(DeploymentId),
}

impl Wanted {
    fn parse(text: &str) -> Result<Wanted, Error> {
        match text {
            "keep" | "Keep" => Ok(Wanted::Keep),
            "latest" | "Latest" => Ok(Wanted::Latest),
            id => id.parse().map(Wanted::This).map_err(|_| Error::BadDeployment(id.into())),
        }
    }

    fn of(choice: &Choice, default: Wanted) -> Result<Wanted, Error> {
        choice.deployment.as_deref().map_or(Ok(default), Wanted::parse)
    }
}

/// `None` keeps what is.
pub(super) async fn for_resume(
    app: &App,
    id: InvocationId,
    choice: &Choice,
) -> Result<Option<Pin>, Error> {
    let wanted = Wanted::of(choice, Wanted::Keep)?;
    if matches!(wanted, Wanted::Keep) {
        return Ok(None);
    }
    let pinned = app.query.pinned(id).await?.ok_or(Error::UnknownInvocation(id))?;
    let chosen = choose(app, id, &wanted, &pinned)?;
    // Where it is already, it may stay in any status.
    Ok(chosen.filter(|_| chosen != pinned.pin))
}

/// `None` starts on the latest deployment without a pin.
pub(super) async fn for_restart(
    app: &App,
    id: InvocationId,
    choice: &Choice,
) -> Result<Option<Pin>, Error> {
    let wanted = Wanted::of(choice, Wanted::Latest)?;
    if matches!(wanted, Wanted::Latest) && choice.from == 0 {
        return Ok(None);
    }
    let pinned = app.query.pinned(id).await?.ok_or(Error::UnknownInvocation(id))?;
    match (&wanted, pinned.pin) {
        (Wanted::Keep, pin) => Ok(pin),
        _ => choose(app, id, &wanted, &pinned),
    }
}

fn choose(
    app: &App,
    id: InvocationId,
    wanted: &Wanted,
    pinned: &Pinned,
) -> Result<Option<Pin>, Error> {
    let schema = app.registry.schema();
    let latest = schema.services.get(&pinned.service).map(|service| service.deployment);
    let target = match (wanted, latest) {
        (Wanted::Keep, _) | (Wanted::Latest, None) => return Ok(pinned.pin),
        (Wanted::Latest, Some(latest)) => latest,
        (Wanted::This(target), _) => *target,
    };
    match pinned.pin {
        Some(pin) => rebind(&schema, id, target, pin).map(Some),
        // An unpinned one goes to the latest by itself.
        None if latest == Some(target) => Ok(None),
        None if !schema.deployments.contains_key(&target) => Err(Error::UnknownDeployment(target)),
        None => Err(Error::Refused {
            id,
            reason: "is not bound to a deployment yet and goes to the latest one; register that \
                     deployment again to make it the latest",
        }),
    }
}

fn rebind(schema: &Schema, id: InvocationId, target: DeploymentId, pin: Pin) -> Result<Pin, Error> {
    let deployment = schema.deployments.get(&target).ok_or(Error::UnknownDeployment(target))?;
    let (min, max, pinned) = (deployment.min_version, deployment.max_version, pin.version.number());
    if !(min..=max).contains(&pinned) {
        return Err(Error::OtherProtocol { id, deployment: target, min, max, pinned });
    }
    Ok(Pin { deployment: target, ..pin })
}
