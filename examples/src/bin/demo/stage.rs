//! What the story needs around it: a temporary folder, the outside world, a service and a sidecar
//! ready to start. Must never leave anything behind after a success.

use crate::Seen;
use crate::agent::Agent;
use crate::outside::Outside;
use crate::process::{Program, Running, beside, free_port, tail};
use crate::sidecar::Sidecar;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Everything but the two running processes.
pub struct Stage {
    folder: PathBuf,
    pub outside: Outside,
    pub service: Program,
    pub sidecar: Sidecar,
    pub agent: Agent,
}

/// The processes that run at the end of the story.
pub struct Cast {
    pub service: Running,
    pub sidecar: Running,
}

impl Stage {
    /// Makes the folder and starts the outside world, nothing else.
    pub async fn set() -> Seen<Self> {
        let folder = std::env::temp_dir().join(format!("holdfast-demo-{}", std::process::id()));
        std::fs::create_dir(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let outside = Outside::start().await?;
        let port = free_port()?;
        let service = refund(&folder, port, outside.url())?;
        let sidecar = Sidecar::new(&folder, &format!("http://127.0.0.1:{port}"))?;
        let agent = Agent::new(&sidecar.ingress);
        Ok(Self { folder, outside, service, sidecar, agent })
    }

    /// An error with what the two programs said last.
    pub fn explain(&self, error: &(dyn Error + Send + Sync)) -> Box<dyn Error + Send + Sync> {
        let (service, sidecar) = (&self.service.log, self.sidecar.log());
        format!(
            "{error}\n\nlast lines of the service ({}):\n{}\n\nlast lines of the sidecar ({}):\n{}",
            service.display(),
            tail(service),
            sidecar.display(),
            tail(sidecar),
        )
        .into()
    }

    /// Removes the folder; the processes must have ended.
    pub fn clear(self) -> Seen<()> {
        Ok(std::fs::remove_dir_all(&self.folder)?)
    }
}

impl Cast {
    /// Ends both processes.
    pub async fn leave(self) -> Seen<()> {
        self.service.end().await?;
        self.sidecar.end().await?;
        Ok(())
    }
}

fn refund(folder: &Path, port: u16, effects: &str) -> Seen<Program> {
    Ok(Program {
        name: "service",
        path: beside("refund")?,
        arguments: vec![],
        environment: vec![("PORT", port.to_string()), ("EFFECTS_URL", effects.to_owned())],
        log: folder.join("service.log"),
    })
}
