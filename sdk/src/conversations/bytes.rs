//! Byte for byte what a real sidecar said to another SDK, and what ours answers to it.

use super::*;

/// Says frames, written as hex, and gives the answer as hex.
fn answer<T, R>(
    version: Version,
    handler: impl FnOnce(Context) -> R + Send + 'static,
    frames: &[&str],
) -> Vec<String>
where
    T: Serialize + Send + 'static,
    R: Future<Output = Result<T>> + Send + 'static,
{
    let mut attempt = in_version(version, handler);
    let mut answered = vec![];
    for frame in frames {
        match *frame {
            "END" => attempt.drive.handle_end(),
            hex => attempt.drive.handle_bytes(from_hex(hex)),
        }
        attempt.drive.advance(Waker::noop());
        attempt.decoder.push(attempt.drive.take_output());
        while let Some(frame) = attempt.decoder.next().unwrap() {
            answered.push(to_hex(&frame.encode()));
        }
    }
    answered
}

fn from_hex(hex: &str) -> Bytes {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const START: &str = "00000000000000520a18c3ba0630971751d9e709d695742dc6a7fd1735e8021d4ec41226696e76\
                     5f3169454c524b7434384d444e355971633145436c75314b7274324e3653794a37494818012801\
                     400148e6d0ca988cb6bf926f";
const INPUT: &str = "040000000000006a0a280a16782d726573746174652d696e67726573732d70617468120e2f4772\
                     65657465722f67726565740a200a0c636f6e74656e742d7479706512106170706c69636174696f\
                     6e2f6a736f6e0a130a0e636f6e74656e742d6c656e67746812013572070a052241646122";

#[test]
fn a_greeting() {
    for version in Version::ALL {
        let answered = answer(version, |_| async { Ok("Hello Ada") }, &[START, INPUT]);
        let output = "040100000000000f720d0a0b2248656c6c6f2041646122";
        assert_eq!(answered, [output, "0003000000000000"]);
    }
}

#[test]
fn a_terminal_failure() {
    let failing =
        |_| async { Err::<(), _>(crate::Error::from(crate::Terminal::new("terminal!").code(409))) };
    let answered = answer(Version::V7, failing, &[START, INPUT]);
    assert_eq!(answered[0], "04010000000000107a0e08990312097465726d696e616c21");
}

#[test]
fn a_step_in_each_version() {
    async fn step(ctx: Context) -> Result<String> {
        Ok(ctx.run("my-run", async || Ok("ran-Bob".to_owned())).await?)
    }
    let run = "041100000000000a580162066d792d72756e";
    let output = "040100000000000d720b0a092272616e2d426f6222";
    let completion = "801100000000000f08012a0b0a092272616e2d426f6222";
    let answered = answer(Version::V6, step, &[START, INPUT, completion]);
    let proposal = "000500000000000d080172092272616e2d426f6222";
    assert_eq!(answered, [run, proposal, output, "0003000000000000"]);
    let answered = answer(Version::V7, step, &[START, INPUT, "00070000000000020801"]);
    let proposal = "000580000000000d080172092272616e2d426f6222";
    assert_eq!(answered, [run, proposal, output, "0003000000000000"]);
}

#[test]
fn a_call_that_suspends() {
    async fn call(ctx: Context) -> Result<String> {
        Ok(ctx.call(crate::Request::new("Greeter", "sleep", &3500)).await?)
    }
    let command = "040d00000000001a0a07477265657465721205736c6565701a043335303050015802";
    let id = "800e00000000002b0801820126696e765f3162544c5262676d7a49327930395261465736423631306141\
              386942564831675a50";
    let answered = answer(Version::V6, call, &[START, INPUT, id, "END"]);
    assert_eq!(answered, [command, "00010000000000060a0102120101"]);
    let answered = answer(Version::V7, call, &[START, INPUT, id, "END"]);
    let awaiting = "000600000000000a0a080a01021201012801";
    let suspension = "000100000000000a22080a01021201012801";
    assert_eq!(answered, [command, awaiting, suspension]);
}

#[test]
fn an_awakeable_and_its_signal() {
    async fn wait(ctx: Context) -> Result<String> {
        Ok(ctx.awakeable::<String>().1.await?)
    }
    let signal = "fbff00000000001210112a0e0a0c2261776b2d726573756c7422";
    let answered = answer(Version::V6, wait, &[START, INPUT, signal]);
    assert_eq!(answered[0], "0401000000000010720e0a0c2261776b2d726573756c7422");
    let answered = answer(Version::V6, wait, &[START, INPUT, "END"]);
    assert_eq!(answered, ["000100000000000412021101"]);
}
