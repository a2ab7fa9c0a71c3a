//! Large artifacts in streams: some clients take no event of more than 4 MiB.

use crate::bridge::a2a::model::{ArtifactUpdate, Content, Part, StreamResponse};
use holdfast_machine::text;

/// The most of a part that one event holds, in bytes; text may need six times as much in JSON.
const PIECE_BYTES_MAX: usize = 512 << 10;

/// An event as one or several: what is large is given piece by piece.
pub fn split(event: StreamResponse) -> Vec<StreamResponse> {
    match event {
        StreamResponse::ArtifactUpdate(update) if update.artifact.parts.iter().any(is_large) => {
            pieces(&update).collect()
        }
        event => vec![event],
    }
}

/// How many events it is given as.
pub fn count(event: &StreamResponse) -> u32 {
    match event {
        StreamResponse::ArtifactUpdate(update) if update.artifact.parts.iter().any(is_large) => {
            (0..).zip(update.artifact.parts.iter().flat_map(cut)).map(|(at, _)| at + 1).last()
        }
        _ => None,
    }
    .unwrap_or(1)
}

fn is_large(part: &Part) -> bool {
    match &part.content {
        Content::Text(text) => text.len() > PIECE_BYTES_MAX,
        Content::Raw(raw) => raw.len() > PIECE_BYTES_MAX,
        Content::Url(_) | Content::Data(_) => false,
    }
}

/// Each piece an update of its own: the first as the whole was, the others appended, the last one
/// the last if the whole was.
fn pieces(whole: &ArtifactUpdate) -> impl Iterator<Item = StreamResponse> {
    let parts: Vec<Part> = whole.artifact.parts.iter().flat_map(cut).collect();
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(move |(at, part)| {
        let mut piece = whole.clone();
        piece.artifact.parts = vec![part];
        piece.append = whole.append || at > 0;
        piece.last_chunk = whole.last_chunk && at == last;
        StreamResponse::ArtifactUpdate(Box::new(piece))
    })
}

fn cut(part: &Part) -> Vec<Part> {
    let with = |content| Part { content, ..part.clone() };
    match &part.content {
        Content::Text(text) => {
            let mut rest = text.as_str();
            let mut pieces = vec![];
            while rest.len() > PIECE_BYTES_MAX {
                let piece = text::cut(rest, PIECE_BYTES_MAX);
                pieces.push(with(Content::Text(piece.to_owned())));
                rest = &rest[piece.len()..];
            }
            pieces.push(with(Content::Text(rest.to_owned())));
            pieces
        }
        Content::Raw(raw) => {
            let starts = (0..raw.len().max(1)).step_by(PIECE_BYTES_MAX);
            let piece = |at: usize| raw.slice(at..raw.len().min(at + PIECE_BYTES_MAX));
            starts.map(|at| with(Content::Raw(piece(at)))).collect()
        }
        Content::Url(_) | Content::Data(_) => vec![part.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::model::{Artifact, Struct};

    fn update(parts: Vec<Part>) -> StreamResponse {
        let artifact = Artifact {
            artifact_id: "a".into(),
            name: String::new(),
            description: String::new(),
            parts,
            metadata: Struct::new(),
            extensions: vec![],
        };
        StreamResponse::ArtifactUpdate(Box::new(ArtifactUpdate {
            task_id: "t".into(),
            context_id: "c".into(),
            artifact,
            append: false,
            last_chunk: true,
            metadata: Struct::new(),
        }))
    }

    #[test]
    fn what_is_small_stays_whole() {
        let event = update(vec![Part::text("a"), Part::text("b")]);
        assert_eq!(split(event.clone()), [event]);
    }

    #[test]
    fn pieces_make_the_whole() {
        let text = "é".repeat(PIECE_BYTES_MAX / 2 + 7) + "x";
        let raw = vec![7; 2 * PIECE_BYTES_MAX];
        let whole = update(vec![
            Part::text(text.as_str()),
            Part::of(Content::Raw(raw.clone().into())),
            Part::of(Content::Raw(Default::default())),
        ]);
        assert_eq!(count(&whole), 5);
        let (mut said, mut bytes, mut flags) = (String::new(), vec![], vec![]);
        for piece in split(whole) {
            let StreamResponse::ArtifactUpdate(piece) = piece else { panic!("{piece:?}") };
            flags.push((piece.append, piece.last_chunk));
            match &piece.artifact.parts[0].content {
                Content::Text(text) => said += text,
                Content::Raw(raw) => bytes.extend_from_slice(raw),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((said, bytes), (text, raw));
        let (first, middle, last) = ((false, false), (true, false), (true, true));
        assert_eq!(flags, [first, middle, middle, middle, last]);
    }
}
