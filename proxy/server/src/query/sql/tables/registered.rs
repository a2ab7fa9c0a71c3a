//! `sys_deployment` and `sys_service`: what is registered.

use super::{
    super::{
        source::{Deployment, Service, Source},
        table::{Column, Key, Table},
        types::Type,
    },
    column,
};
use holdfast_machine::{
    id::PartitionId,
    kv::{Fault, Kv},
};
use holdfast_wire::manifest::ServiceType;

pub struct Deployments;

impl Table for Deployments {
    type Row = Deployment;
    const NAME: &'static str = "sys_deployment";
    const KEY: Key = Key::None;

    fn columns() -> Vec<Column<Deployment>> {
        vec![
            column("id", Type::Text, |it, _| it.id.to_string().into()),
            column("ty", Type::Text, |_, _| "http".into()),
            column("endpoint", Type::Text, |it, _| (&it.endpoint).into()),
            column("created_at", Type::Timestamp, |it, _| it.created_at.into()),
            column("min_service_protocol_version", Type::UInt32, |it, _| it.min_version.into()),
            column("max_service_protocol_version", Type::UInt32, |it, _| it.max_version.into()),
            column("services", Type::TextList, |it, _| {
                serde_json::json!(it.services).to_string().into()
            }),
        ]
    }

    fn read(
        source: &Source,
        _: &dyn Kv,
        _: PartitionId,
        rows: &mut Vec<Deployment>,
    ) -> Result<(), Fault> {
        rows.extend(source.catalog.deployments.iter().cloned());
        Ok(())
    }
}

pub struct Services;

impl Table for Services {
    type Row = Service;
    const NAME: &'static str = "sys_service";
    const KEY: Key = Key::None;

    fn columns() -> Vec<Column<Service>> {
        vec![
            column("name", Type::Text, |it, _| (&it.name).into()),
            column("revision", Type::UInt64, |it, _| u64::from(it.revision).into()),
            column("public", Type::Boolean, |it, _| it.public.into()),
            column("ty", Type::Text, |it, _| type_name(it.ty).into()),
            column("deployment_id", Type::Text, |it, _| it.deployment.to_string().into()),
        ]
    }

    fn read(
        source: &Source,
        _: &dyn Kv,
        _: PartitionId,
        rows: &mut Vec<Service>,
    ) -> Result<(), Fault> {
        rows.extend(source.catalog.services.iter().cloned());
        Ok(())
    }
}

fn type_name(ty: ServiceType) -> &'static str {
    match ty {
        ServiceType::Service => "service",
        ServiceType::VirtualObject => "virtual_object",
        ServiceType::Workflow => "workflow",
    }
}
