//! Cards.

use super::struct_out;
use crate::bridge::a2a::card::model as own;
use crate::bridge::a2a::grpc::pb;

pub fn card(card: own::AgentCard) -> pb::AgentCard {
    pb::AgentCard {
        name: card.name,
        description: card.description,
        supported_interfaces: card.supported_interfaces.into_iter().map(interface).collect(),
        provider: card.provider.map(|provider| pb::AgentProvider {
            url: provider.url,
            organization: provider.organization,
        }),
        version: card.version,
        documentation_url: card.documentation_url,
        capabilities: Some(capabilities(card.capabilities)),
        security_schemes: card
            .security_schemes
            .into_iter()
            .map(|(name, it)| (name, pb::SecurityScheme { scheme: Some(scheme(it)) }))
            .collect(),
        security_requirements: card.security_requirements.into_iter().map(required).collect(),
        default_input_modes: card.default_input_modes,
        default_output_modes: card.default_output_modes,
        skills: card.skills.into_iter().map(skill).collect(),
        signatures: card.signatures.into_iter().map(signature).collect(),
        icon_url: card.icon_url,
    }
}

fn interface(interface: own::AgentInterface) -> pb::AgentInterface {
    pb::AgentInterface {
        url: interface.url,
        protocol_binding: interface.protocol_binding,
        tenant: interface.tenant,
        protocol_version: interface.protocol_version,
    }
}

fn capabilities(capabilities: own::AgentCapabilities) -> pb::AgentCapabilities {
    let extension = |extension: own::AgentExtension| pb::AgentExtension {
        uri: extension.uri,
        description: extension.description,
        required: extension.required,
        params: struct_out(&extension.params),
    };
    pb::AgentCapabilities {
        streaming: capabilities.streaming,
        push_notifications: capabilities.push_notifications,
        extensions: capabilities.extensions.into_iter().map(extension).collect(),
        extended_agent_card: capabilities.extended_agent_card,
    }
}

fn skill(skill: own::AgentSkill) -> pb::AgentSkill {
    pb::AgentSkill {
        id: skill.id,
        name: skill.name,
        description: skill.description,
        tags: skill.tags,
        examples: skill.examples,
        input_modes: skill.input_modes,
        output_modes: skill.output_modes,
        security_requirements: vec![],
    }
}

fn signature(signature: own::AgentCardSignature) -> pb::AgentCardSignature {
    pb::AgentCardSignature {
        protected: signature.protected,
        signature: signature.signature,
        header: None,
    }
}

fn required(required: own::SecurityRequirement) -> pb::SecurityRequirement {
    let schemes = required.schemes.into_iter();
    let schemes = schemes.map(|(name, scopes)| (name, pb::StringList { list: scopes.list }));
    pb::SecurityRequirement { schemes: schemes.collect() }
}

fn scheme(scheme: own::SecurityScheme) -> pb::security_scheme::Scheme {
    use own::SecurityScheme as In;
    use pb::security_scheme::Scheme as Out;
    match scheme {
        In::ApiKeySecurityScheme(it) => Out::ApiKeySecurityScheme(pb::ApiKeySecurityScheme {
            description: it.description,
            location: it.location,
            name: it.name,
        }),
        In::HttpAuthSecurityScheme(it) => Out::HttpAuthSecurityScheme(pb::HttpAuthSecurityScheme {
            description: it.description,
            scheme: it.scheme,
            bearer_format: it.bearer_format,
        }),
        In::Oauth2SecurityScheme(it) => Out::Oauth2SecurityScheme(pb::OAuth2SecurityScheme {
            description: it.description,
            flows: Some(pb::OAuthFlows { flow: Some(flow(it.flows)) }),
            oauth2_metadata_url: it.oauth2_metadata_url,
        }),
        In::OpenIdConnectSecurityScheme(it) => {
            Out::OpenIdConnectSecurityScheme(pb::OpenIdConnectSecurityScheme {
                description: it.description,
                open_id_connect_url: it.open_id_connect_url,
            })
        }
        In::MtlsSecurityScheme(it) => {
            Out::MtlsSecurityScheme(pb::MutualTlsSecurityScheme { description: it.description })
        }
    }
}

fn flow(flow: own::OAuthFlow) -> pb::o_auth_flows::Flow {
    use own::OAuthFlow as In;
    use pb::o_auth_flows::Flow as Out;
    match flow {
        In::AuthorizationCode(it) => Out::AuthorizationCode(pb::AuthorizationCodeOAuthFlow {
            authorization_url: it.authorization_url,
            token_url: it.token_url,
            refresh_url: it.refresh_url,
            scopes: it.scopes.into_iter().collect(),
            pkce_required: it.pkce_required,
        }),
        In::ClientCredentials(it) => Out::ClientCredentials(pb::ClientCredentialsOAuthFlow {
            token_url: it.token_url,
            refresh_url: it.refresh_url,
            scopes: it.scopes.into_iter().collect(),
        }),
        In::DeviceCode(it) => Out::DeviceCode(pb::DeviceCodeOAuthFlow {
            device_authorization_url: it.device_authorization_url,
            token_url: it.token_url,
            refresh_url: it.refresh_url,
            scopes: it.scopes.into_iter().collect(),
        }),
    }
}
