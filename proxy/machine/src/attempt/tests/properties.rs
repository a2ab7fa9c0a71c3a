//! What holds for all bytes and for all ways to cut them.

use super::*;
use proptest::prelude::*;

const WHOLE: &str = "Run{11:1 12:\"a\"} ProposeRunCompletion!{1:1 14:\"result\"} \
    AwaitingOn{1:{1:1 5:1}} Sleep{1:99 11:2} Call{1:\"Greeter\" 2:\"greet\" 3:\"Ada\" 10:3 11:4} \
    AwaitingOn{1:{1:x0204 2:1 4:{1:4 5:3} 5:1}}";
const FINALS: [&str; 6] = [
    "Output{14:{1:\"done\"}} End{}",
    "Suspension{4:{1:2 2:1 5:1}}",
    "Error{1:500 2:\"no\"}",
    "Call{1:\"Nobody\" 2:\"x\"}",
    "Typefc00{1:1}",
    "Run{11:5}",
];

/// Everything that is polled after `chunks`: what is said in one list, whatever the number of
/// `Say`s, and without hints, the last of which wins.
fn outcome(chunks: impl IntoIterator<Item = Bytes>) -> String {
    let mut opening = Opening::parse("open Greeter/greet v7");
    opening.entry("Input{14:{}}");
    let mut attempt = Attempt::new(Timestamp(0), opening.start, opening.terms);
    let content_type = attempt.request_head().content_type;
    attempt.handle_response_head(Timestamp(0), 200, Some(content_type), None);
    let mut text = String::new();
    for chunk in chunks {
        attempt.handle_chunk(Timestamp(0), chunk);
        poll_into(&mut text, &mut attempt);
    }
    attempt.handle_response_end(Timestamp(0));
    poll_into(&mut text, &mut attempt);
    assert!(attempt.is_finished(), "a response that ended ends everything");
    assert_eq!(attempt.deadline(), None);
    text
}

fn poll_into(text: &mut String, attempt: &mut Attempt) {
    while let Some(output) = attempt.poll() {
        let mut shown = String::new();
        show(&mut shown, output);
        let shown = shown.lines().filter(|line| *line != "    say" && !line.contains("awaiting"));
        shown.for_each(|line| writeln!(text, "{line}").unwrap());
    }
}

proptest! {
    #[test]
    fn cuts_do_not_matter(last in 0..FINALS.len(), cuts in prop::collection::vec(0usize..400, 0..12)) {
        let messages = frames(&format!("{WHOLE} {}", FINALS[last]));
        let whole: Bytes = messages.iter().map(Frame::encode).collect::<Vec<_>>().concat().into();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| whole.slice(pair[0]..pair[1]));
        prop_assert_eq!(outcome(pieces), outcome([whole.clone()]));
    }

    #[test]
    fn no_bytes_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8)) {
        outcome(chunks.into_iter().map(Bytes::from));
    }

    #[test]
    fn no_payload_panics(ty in 0u16..0x0420, flags in any::<bool>(), payload in prop::collection::vec(any::<u8>(), 0..64)) {
        let frame = Frame { ty: MessageType(ty), requires_ack: flags, payload: payload.into() };
        outcome([frame.encode()]);
    }

    #[test]
    fn no_change_of_a_byte_panics(at in 0usize..300, to in any::<u8>()) {
        let messages = frames(&format!("{WHOLE} {}", FINALS[1]));
        let mut bytes = messages.iter().map(Frame::encode).collect::<Vec<_>>().concat();
        let at = at % bytes.len();
        bytes[at] = to;
        outcome([bytes.into()]);
    }

    #[test]
    fn the_end_is_said_once_and_last(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8)) {
        let text = outcome(chunks.into_iter().map(Bytes::from));
        let ends = text.lines().filter(|line| {
            ["      completed", "      suspended", "      failed"].iter().any(|end| line.starts_with(end))
        });
        prop_assert_eq!(ends.count(), 1);
        prop_assert!(text.ends_with("    finished\n"));
    }
}
