//! Which commands are let through, and what is said about the others.

use super::*;
use expect_test::expect;

/// What becomes of each of `messages`, each in a conversation of its own with `opening`.
fn check_each(opening: &str, messages: &[&str], expected: Expect) {
    let mut text = String::new();
    for message in messages {
        let script = format!("open {opening}\nhead 200\nchunk {message}");
        let transcript = transcript(&script);
        let after = transcript.split_once("\nchunk ").unwrap().1;
        let said = after.lines().skip(1).filter(|line| line.starts_with("      "));
        let said = said.map(str::trim).collect::<Vec<_>>().join("\n    ");
        let said = if said.is_empty() { "(nothing is said)" } else { &said };
        writeln!(text, "{message}\n    {said}").unwrap();
    }
    expected.assert_eq(&text);
}

const READS: [&str; 4] = [
    "GetLazyState{1:\"a\" 11:1}",
    "GetLazyStateKeys{11:1}",
    "GetEagerState{1:\"a\" 13:{}}",
    "GetEagerStateKeys{14:{}}",
];
const WRITES: [&str; 3] = ["SetState{1:\"a\" 3:{}}", "ClearState{1:\"a\"}", "ClearAllState{}"];
const PROMISES: [&str; 3] =
    ["GetPromise{1:\"p\" 11:1}", "PeekPromise{1:\"p\" 11:1}", "CompletePromise{1:\"p\" 2:{} 11:1}"];

/// Which of `messages` are let through in which handler.
fn check_matrix(messages: &[&str], expected: Expect) {
    let mut text = String::new();
    for handler in ["Greeter/greet", "Counter/add", "Counter/get", "Wf/run", "Wf/signal"] {
        for message in messages {
            let script = format!("open {handler} v6\nhead 200\nchunk {message}");
            let transcript = transcript(&script);
            let failed = transcript.lines().find_map(|line| line.trim().strip_prefix("failed "));
            let name = message.split('{').next().unwrap();
            writeln!(text, "{handler} {name}: {}", failed.unwrap_or("ok")).unwrap();
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn who_may_read_state() {
    check_matrix(
        &READS,
        expect![[r#"
        Greeter/greet GetLazyState: 500 HF0089 Retry at Some(1) None Some(GetLazyState (0x0402)): reading state is not allowed in a plain service
        Greeter/greet GetLazyStateKeys: 500 HF0089 Retry at Some(1) None Some(GetLazyStateKeys (0x0406)): reading state is not allowed in a plain service
        Greeter/greet GetEagerState: 500 HF0089 Retry at Some(1) None Some(GetEagerState (0x0407)): reading state is not allowed in a plain service
        Greeter/greet GetEagerStateKeys: 500 HF0089 Retry at Some(1) None Some(GetEagerStateKeys (0x0408)): reading state is not allowed in a plain service
        Counter/add GetLazyState: ok
        Counter/add GetLazyStateKeys: ok
        Counter/add GetEagerState: ok
        Counter/add GetEagerStateKeys: ok
        Counter/get GetLazyState: ok
        Counter/get GetLazyStateKeys: ok
        Counter/get GetEagerState: ok
        Counter/get GetEagerStateKeys: ok
        Wf/run GetLazyState: ok
        Wf/run GetLazyStateKeys: ok
        Wf/run GetEagerState: ok
        Wf/run GetEagerStateKeys: ok
        Wf/signal GetLazyState: ok
        Wf/signal GetLazyStateKeys: ok
        Wf/signal GetEagerState: ok
        Wf/signal GetEagerStateKeys: ok
    "#]],
    );
}

#[test]
fn who_may_change_state() {
    check_matrix(
        &WRITES,
        expect![[r#"
        Greeter/greet SetState: 500 HF0089 Retry at Some(1) None Some(SetState (0x0403)): changing state is not allowed in a plain service
        Greeter/greet ClearState: 500 HF0089 Retry at Some(1) None Some(ClearState (0x0404)): changing state is not allowed in a plain service
        Greeter/greet ClearAllState: 500 HF0089 Retry at Some(1) None Some(ClearAllState (0x0405)): changing state is not allowed in a plain service
        Counter/add SetState: ok
        Counter/add ClearState: ok
        Counter/add ClearAllState: ok
        Counter/get SetState: 500 HF0089 Retry at Some(1) None Some(SetState (0x0403)): changing state is not allowed in a shared handler
        Counter/get ClearState: 500 HF0089 Retry at Some(1) None Some(ClearState (0x0404)): changing state is not allowed in a shared handler
        Counter/get ClearAllState: 500 HF0089 Retry at Some(1) None Some(ClearAllState (0x0405)): changing state is not allowed in a shared handler
        Wf/run SetState: ok
        Wf/run ClearState: ok
        Wf/run ClearAllState: ok
        Wf/signal SetState: 500 HF0089 Retry at Some(1) None Some(SetState (0x0403)): changing state is not allowed in a shared handler
        Wf/signal ClearState: 500 HF0089 Retry at Some(1) None Some(ClearState (0x0404)): changing state is not allowed in a shared handler
        Wf/signal ClearAllState: 500 HF0089 Retry at Some(1) None Some(ClearAllState (0x0405)): changing state is not allowed in a shared handler
    "#]],
    );
}

#[test]
fn who_may_use_promises() {
    check_matrix(
        &PROMISES,
        expect![[r#"
        Greeter/greet GetPromise: 500 HF0090 Retry at Some(1) None Some(GetPromise (0x0409)): promises exist in workflows only, `Greeter` is not one
        Greeter/greet PeekPromise: 500 HF0090 Retry at Some(1) None Some(PeekPromise (0x040a)): promises exist in workflows only, `Greeter` is not one
        Greeter/greet CompletePromise: 500 HF0090 Retry at Some(1) None Some(CompletePromise (0x040b)): promises exist in workflows only, `Greeter` is not one
        Counter/add GetPromise: 500 HF0090 Retry at Some(1) None Some(GetPromise (0x0409)): promises exist in workflows only, `Counter` is not one
        Counter/add PeekPromise: 500 HF0090 Retry at Some(1) None Some(PeekPromise (0x040a)): promises exist in workflows only, `Counter` is not one
        Counter/add CompletePromise: 500 HF0090 Retry at Some(1) None Some(CompletePromise (0x040b)): promises exist in workflows only, `Counter` is not one
        Counter/get GetPromise: 500 HF0090 Retry at Some(1) None Some(GetPromise (0x0409)): promises exist in workflows only, `Counter` is not one
        Counter/get PeekPromise: 500 HF0090 Retry at Some(1) None Some(PeekPromise (0x040a)): promises exist in workflows only, `Counter` is not one
        Counter/get CompletePromise: 500 HF0090 Retry at Some(1) None Some(CompletePromise (0x040b)): promises exist in workflows only, `Counter` is not one
        Wf/run GetPromise: ok
        Wf/run PeekPromise: ok
        Wf/run CompletePromise: ok
        Wf/signal GetPromise: ok
        Wf/signal PeekPromise: ok
        Wf/signal CompletePromise: ok
    "#]],
    );
}

#[test]
fn calls() {
    check_each(
        "Greeter/greet v7",
        &[
            "Call{1:\"Greeter\" 2:\"greet\" 3:\"x\" 10:1 11:2}",
            "Call{1:\"Counter\" 2:\"get\" 5:\"k\" 10:1 11:2}",
            "OneWayCall{1:\"Wf\" 2:\"run\" 6:\"k\" 10:1}",
            "Call{1:\"Greeter\" 2:\"nobody\" 10:1 11:2 12:\"my call\"}",
            "OneWayCall{1:\"Nobody\" 2:\"greet\" 10:1}",
            "Call{1:\"Greeter\" 2:\"greet\" 5:\"k\" 10:1 11:2}",
            "OneWayCall{1:\"Counter\" 2:\"add\" 10:1}",
            "Call{1:\"Greeter\" 2:\"greet\" 6:\"\" 10:1 11:2}",
            "OneWayCall{1:\"Greeter\" 2:\"greet\" 7:\"\" 10:1}",
            "Call{1:\"Greeter\" 2:\"greet\" 7:\"s\" 10:1 11:2}",
            "Call{1:\"Greeter\" 2:\"greet\" 8:\"l\" 10:1 11:2}",
            "OneWayCall{1:\"Greeter\" 2:\"greet\" 8:\"s\" 10:1}",
            "OneWayCall{1:\"Greeter\" 2:\"greet\" 9:\"l\" 10:1}",
            "Call{1:\"Greeter\" 2:\"greet\" 5:xff 10:1 11:2}",
        ],
        expect![[r#"
            Call{1:"Greeter" 2:"greet" 3:"x" 10:1 11:2}
                Call 0a0747726565746572120567726565741a017850015802 -> service
            Call{1:"Counter" 2:"get" 5:"k" 10:1 11:2}
                Call 0a07436f756e74657212036765742a016b50015802 -> shared
            OneWayCall{1:"Wf" 2:"run" 6:"k" 10:1}
                OneWayCall 0a025766120372756e32016b5001 -> workflow
            Call{1:"Greeter" 2:"nobody" 10:1 11:2 12:"my call"}
                failed 500 HF0087 Retry at Some(1) Some("my call") Some(Call (0x040d)): no handler `Greeter/nobody` is registered; register its deployment first
            OneWayCall{1:"Nobody" 2:"greet" 10:1}
                failed 500 HF0087 Retry at Some(1) None Some(OneWayCall (0x040e)): no handler `Nobody/greet` is registered; register its deployment first
            Call{1:"Greeter" 2:"greet" 5:"k" 10:1 11:2}
                failed 500 HF0088 Retry at Some(1) None Some(Call (0x040d)): `Greeter` has no keys and was called with one; call it without
            OneWayCall{1:"Counter" 2:"add" 10:1}
                OneWayCall 0a07436f756e74657212036164645001 -> exclusive
            Call{1:"Greeter" 2:"greet" 6:"" 10:1 11:2}
                failed 500 HF0093 Retry at Some(1) None Some(Call (0x040d)): a call with an empty idempotency key; leave it out, or give it a value
            OneWayCall{1:"Greeter" 2:"greet" 7:"" 10:1}
                failed 500 HF0093 Retry at Some(1) None Some(OneWayCall (0x040e)): a call with an empty idempotency key; leave it out, or give it a value
            Call{1:"Greeter" 2:"greet" 7:"s" 10:1 11:2}
                failed 500 HF0092 Retry at Some(1) None Some(Call (0x040d)): a call with a scope or a limit key; this server does not have them, leave them out
            Call{1:"Greeter" 2:"greet" 8:"l" 10:1 11:2}
                failed 500 HF0092 Retry at Some(1) None Some(Call (0x040d)): a call with a scope or a limit key; this server does not have them, leave them out
            OneWayCall{1:"Greeter" 2:"greet" 8:"s" 10:1}
                failed 500 HF0092 Retry at Some(1) None Some(OneWayCall (0x040e)): a call with a scope or a limit key; this server does not have them, leave them out
            OneWayCall{1:"Greeter" 2:"greet" 9:"l" 10:1}
                failed 500 HF0092 Retry at Some(1) None Some(OneWayCall (0x040e)): a call with a scope or a limit key; this server does not have them, leave them out
            Call{1:"Greeter" 2:"greet" 5:xff 10:1 11:2}
                failed 571 HF0084 Retry at Some(1) None Some(Call (0x040d)): the service sent a message of type Call (0x040d) that cannot be understood: failed to decode Protobuf message: CallCommand.key: invalid string value: data is not UTF-8 encoded
        "#]],
    );
}

#[test]
fn other_invocations() {
    check_each(
        "Greeter/greet v7",
        &[
            "SendSignal{1:\"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8\" 2:1 4:{}}",
            "SendSignal{1:\"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8\" 3:\"go\" 5:{1:\"x\"}}",
            "SendSignal{1:\"inv_12\" 2:1 4:{}}",
            "SendSignal{1:\"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8\" 4:{}}",
            "SendSignal{1:\"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8\" 2:1}",
            "CompleteAwakeable{1:\"sign_1UWTHdWSNIRv8Gw4RmRzJSSCRgkORT61gAAAAEQ\" 3:{1:500}}",
            "CompleteAwakeable{1:\"prom_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAAQ\" 2:{}}",
            "CompleteAwakeable{1:\"sign_1UWTHdWSNIRv8Gw4RmRzJSSCRgkORT61gAAAAEQ\"}",
            "AttachInvocation{1:\"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8\" 11:1}",
            "AttachInvocation{1:\"nothing\" 11:1}",
            "AttachInvocation{11:1}",
            "GetInvocationOutput{3:{1:\"Greeter\" 3:\"greet\" 4:\"once\"} 11:1}",
            "GetInvocationOutput{3:{1:\"Greeter\" 3:\"greet\"} 11:1}",
            "GetInvocationOutput{3:{1:\"Greeter\" 3:\"greet\" 4:\"once\" 5:\"s\"} 11:1}",
            "GetInvocationOutput{4:{1:\"Wf\" 2:\"k\"} 11:1}",
            "GetInvocationOutput{4:{1:\"Wf\" 2:\"k\" 3:\"s\"} 11:1}",
        ],
        expect![[r#"
            SendSignal{1:"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8" 2:1 4:{}}
                SendSignal 0a26696e765f31326b7055514f4e6d65466232577173564f6b416a48347068533334634f7949433810012200
            SendSignal{1:"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8" 3:"go" 5:{1:"x"}}
                SendSignal 0a26696e765f31326b7055514f4e6d65466232577173564f6b416a48347068533334634f794943381a02676f2a030a0178
            SendSignal{1:"inv_12" 2:1 4:{}}
                failed 500 HF0091 Retry at Some(1) None Some(SendSignal (0x0410)): `inv_12` is not an invocation id (inv_1 and 33 characters)
            SendSignal{1:"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8" 4:{}}
                failed 571 HF0084 Retry at Some(1) None Some(SendSignal (0x0410)): the service sent a message of type SendSignal (0x0410) that cannot be understood: its signal is missing
            SendSignal{1:"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8" 2:1}
                failed 571 HF0084 Retry at Some(1) None Some(SendSignal (0x0410)): the service sent a message of type SendSignal (0x0410) that cannot be understood: its result is missing
            CompleteAwakeable{1:"sign_1UWTHdWSNIRv8Gw4RmRzJSSCRgkORT61gAAAAEQ" 3:{1:500}}
                CompleteAwakeable 0a2c7369676e5f31555754486457534e49527638477734526d527a4a53534352676b4f52543631674141414145511a0308f403
            CompleteAwakeable{1:"prom_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAAQ" 2:{}}
                failed 500 HF0091 Retry at Some(1) None Some(CompleteAwakeable (0x0414)): `prom_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAAQ` is not an awakeable id (sign_1 and 38 characters)
            CompleteAwakeable{1:"sign_1UWTHdWSNIRv8Gw4RmRzJSSCRgkORT61gAAAAEQ"}
                failed 571 HF0084 Retry at Some(1) None Some(CompleteAwakeable (0x0414)): the service sent a message of type CompleteAwakeable (0x0414) that cannot be understood: its result is missing
            AttachInvocation{1:"inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8" 11:1}
                AttachInvocation 0a26696e765f31326b7055514f4e6d65466232577173564f6b416a48347068533334634f794943385801
            AttachInvocation{1:"nothing" 11:1}
                failed 500 HF0091 Retry at Some(1) None Some(AttachInvocation (0x0412)): `nothing` is not an invocation id (inv_1 and 33 characters)
            AttachInvocation{11:1}
                failed 571 HF0084 Retry at Some(1) None Some(AttachInvocation (0x0412)): the service sent a message of type AttachInvocation (0x0412) that cannot be understood: its target is missing
            GetInvocationOutput{3:{1:"Greeter" 3:"greet" 4:"once"} 11:1}
                GetInvocationOutput 1a160a07477265657465721a05677265657422046f6e63655801
            GetInvocationOutput{3:{1:"Greeter" 3:"greet"} 11:1}
                failed 500 HF0093 Retry at Some(1) None Some(GetInvocationOutput (0x0413)): a call with an empty idempotency key; leave it out, or give it a value
            GetInvocationOutput{3:{1:"Greeter" 3:"greet" 4:"once" 5:"s"} 11:1}
                failed 500 HF0092 Retry at Some(1) None Some(GetInvocationOutput (0x0413)): a call with a scope or a limit key; this server does not have them, leave them out
            GetInvocationOutput{4:{1:"Wf" 2:"k"} 11:1}
                GetInvocationOutput 22070a02576612016b5801
            GetInvocationOutput{4:{1:"Wf" 2:"k" 3:"s"} 11:1}
                failed 500 HF0092 Retry at Some(1) None Some(GetInvocationOutput (0x0413)): a call with a scope or a limit key; this server does not have them, leave them out
        "#]],
    );
}

#[test]
fn parts_that_must_be_there() {
    check_each(
        "Wf/run v7",
        &[
            "Output{}",
            "Output{14:{}}",
            "SetState{1:\"a\"}",
            "CompletePromise{1:\"p\" 11:1}",
            "ProposeRunCompletion{1:1}",
            "Run{}",
            "Sleep{}",
            "Suspension{}",
            "Suspension{4:{}}",
            "Suspension{4:{4:{5:2} 5:1}}",
            "Suspension{1:x01}",
            "AwaitingOn{}",
        ],
        expect![[r#"
            Output{}
                failed 571 HF0084 Retry at Some(1) None Some(Output (0x0401)): the service sent a message of type Output (0x0401) that cannot be understood: its result is missing
            Output{14:{}}
                Output 7200
            SetState{1:"a"}
                failed 571 HF0084 Retry at Some(1) None Some(SetState (0x0403)): the service sent a message of type SetState (0x0403) that cannot be understood: its value is missing
            CompletePromise{1:"p" 11:1}
                failed 571 HF0084 Retry at Some(1) None Some(CompletePromise (0x040b)): the service sent a message of type CompletePromise (0x040b) that cannot be understood: its completion is missing
            ProposeRunCompletion{1:1}
                failed 571 HF0084 Retry: the service sent a message of type ProposeRunCompletion (0x0005) that cannot be understood: its result is missing
            Run{}
                (nothing is said)
            Sleep{}
                Sleep
            Suspension{}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            Suspension{4:{}}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            Suspension{4:{4:{5:2} 5:1}}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            Suspension{1:x01}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            AwaitingOn{}
                (nothing is said)
        "#]],
    );
    check_each(
        "Greeter/greet v6",
        &["Suspension{}", "Suspension{4:{1:x01}}"],
        expect![[r#"
            Suspension{}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            Suspension{4:{1:x01}}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
        "#]],
    );
}

#[test]
fn messages_that_cannot_be_understood() {
    check_each(
        "Counter/add v7",
        &[
            "Output{14:7}",
            "Sleep{1:\"soon\"}",
            "Run{12:xff}",
            "SetState{1:7}",
            "Error{1:\"x\"}",
            "ProposeRunCompletion{1:\"x\"}",
            "Suspension{4:7}",
            "Suspension{4:{3:xff}}",
            "AwaitingOn{1:xff}",
            "AwaitingOn{1:x0b}",
        ],
        expect![[r#"
            Output{14:7}
                failed 571 HF0084 Retry at Some(1) None Some(Output (0x0401)): the service sent a message of type Output (0x0401) that cannot be understood: failed to decode Protobuf message: OutputCommand.result: invalid wire type: Varint (expected LengthDelimited)
            Sleep{1:"soon"}
                failed 571 HF0084 Retry at Some(1) None Some(Sleep (0x040c)): the service sent a message of type Sleep (0x040c) that cannot be understood: failed to decode Protobuf message: SleepCommand.wake_up_time: invalid wire type: LengthDelimited (expected Varint)
            Run{12:xff}
                failed 571 HF0084 Retry at Some(1) None Some(Run (0x0411)): the service sent a message of type Run (0x0411) that cannot be understood: failed to decode Protobuf message: RunCommand.name: invalid string value: data is not UTF-8 encoded
            SetState{1:7}
                failed 571 HF0084 Retry at Some(1) None Some(SetState (0x0403)): the service sent a message of type SetState (0x0403) that cannot be understood: failed to decode Protobuf message: SetStateCommand.key: invalid wire type: Varint (expected LengthDelimited)
            Error{1:"x"}
                failed 571 HF0084 Retry: the service sent a message of type Error (0x0002) that cannot be understood: failed to decode Protobuf message: Error.code: invalid wire type: LengthDelimited (expected Varint)
            ProposeRunCompletion{1:"x"}
                failed 571 HF0084 Retry: the service sent a message of type ProposeRunCompletion (0x0005) that cannot be understood: failed to decode Protobuf message: ProposeRunCompletion.result_completion_id: invalid wire type: LengthDelimited (expected Varint)
            Suspension{4:7}
                failed 571 HF0085 Retry: the service suspended without naming anything to wait for; it would never wake
            Suspension{4:{3:xff}}
                failed 571 HF0084 Retry: the service sent a message of type Suspension (0x0001) that cannot be understood: a name is not UTF-8
            AwaitingOn{1:xff}
                failed 571 HF0084 Retry: the service sent a message of type AwaitingOn (0x0006) that cannot be understood: it ends in the middle of a field
            AwaitingOn{1:x0b}
                failed 571 HF0084 Retry: the service sent a message of type AwaitingOn (0x0006) that cannot be understood: it has a field of an unknown wire type
        "#]],
    );
}

#[test]
fn messages_that_a_service_does_not_send() {
    check_each(
        "Greeter/greet v7",
        &[
            "Start{}",
            "CommandAck{}",
            "ProposeRunCompletionAck{1:1}",
            "Input{}",
            "RunCompletion{1:1 4:{}}",
            "Signal{2:1 4:{}}",
            "Type0008{}",
            "Type0200{1:1}",
            "Type040f{}",
            "Type7fff{12:\"a name\"}",
            "Type8fff{}",
            "Typefc00{}",
            "Run!{11:1}",
        ],
        expect![[r#"
            Start{}
                failed 571 HF0083 Retry: the service sent a message of type Start (0x0000), which only servers send
            CommandAck{}
                failed 571 HF0083 Retry: the service sent a message of type CommandAck (0x0004), which only servers send
            ProposeRunCompletionAck{1:1}
                failed 571 HF0083 Retry: the service sent a message of type ProposeRunCompletionAck (0x0007), which only servers send
            Input{}
                failed 571 HF0083 Retry at Some(1) None Some(Input (0x0400)): the service sent a message of type Input (0x0400), which only servers send
            RunCompletion{1:1 4:{}}
                failed 571 HF0083 Retry: the service sent a message of type RunCompletion (0x8011), which only servers send
            Signal{2:1 4:{}}
                failed 571 HF0083 Retry: the service sent a message of type Signal (0xfbff), which only servers send
            Type0008{}
                failed 571 HF0083 Retry: the service sent a message of type Unknown (0x0008), which this server does not know
            Type0200{1:1}
                failed 571 HF0083 Retry: the service sent a message of type Unknown (0x0200), which this server does not know
            Type040f{}
                failed 571 HF0083 Retry at Some(1) None Some(Unknown (0x040f)): the service sent a message of type Unknown (0x040f), which this server does not know
            Type7fff{12:"a name"}
                failed 571 HF0083 Retry at Some(1) Some("a name") Some(Unknown (0x7fff)): the service sent a message of type Unknown (0x7fff), which this server does not know
            Type8fff{}
                failed 571 HF0083 Retry: the service sent a message of type Unknown (0x8fff), which this server does not know
            Typefc00{}
                failed 571 HF0083 Retry: the service sent a message of type Unknown (0xfc00), which this server does not know
            Run!{11:1}
                failed 571 HF0083 Retry at Some(1) None Some(Run (0x0411)): the service sent a message of type Run (0x0411), with a wish for an acknowledgement, which the protocol does not have
        "#]],
    );
}

#[test]
fn signals_and_names_of_a_flat_suspension() {
    check_each(
        "Greeter/greet v6",
        &["Suspension{1:x0102 2:17 2:18 3:\"go\" 3:\"on\"}", "Suspension{3:\"go\"}"],
        expect![[r#"
            Suspension{1:x0102 2:17 2:18 3:"go" 3:"on"}
                suspended FirstCompleted(1, 2, signal 17, signal 18, signal `go`, signal `on`)
            Suspension{3:"go"}
                suspended FirstCompleted(signal `go`)
        "#]],
    );
}

#[test]
fn combinators() {
    check_each(
        "Greeter/greet v7",
        &[
            "Suspension{4:{1:1 5:0}}",
            "Suspension{4:{1:1 5:1}}",
            "Suspension{4:{1:1 5:2}}",
            "Suspension{4:{1:1 5:3}}",
            "Suspension{4:{1:1 5:4}}",
            "Suspension{4:{1:1 5:99}}",
            "Suspension{4:{1:x0102 1:3 2:17 3:\"go\" 4:{1:4 5:2 99:\"later\" 98:7} 5:1}}",
        ],
        expect![[r#"
            Suspension{4:{1:1 5:0}}
                suspended Unknown(1)
            Suspension{4:{1:1 5:1}}
                suspended FirstCompleted(1)
            Suspension{4:{1:1 5:2}}
                suspended AllCompleted(1)
            Suspension{4:{1:1 5:3}}
                suspended FirstSucceededOrAllFailed(1)
            Suspension{4:{1:1 5:4}}
                suspended AllSucceededOrFirstFailed(1)
            Suspension{4:{1:1 5:99}}
                suspended Unknown(1)
            Suspension{4:{1:x0102 1:3 2:17 3:"go" 4:{1:4 5:2 99:"later" 98:7} 5:1}}
                suspended FirstCompleted(1, 2, 3, signal 17, signal `go`, AllCompleted(4))
        "#]],
    );
}

/// A suspension on `1` below `depth - 1` combinators, each of which waits for 7 too.
fn nested(depth: usize) -> String {
    let open = "4:{1:7 5:2 ".repeat(depth - 1);
    format!("Suspension{{{open}4:{{1:1 5:1}}{}}}", "}".repeat(depth - 1))
}

#[test]
fn a_deep_future_is_kept_to_a_depth_and_flat_below() {
    let depth_of = |text: &str| text.matches('(').count();
    let text = transcript(&format!("open Greeter/greet v7\nhead 200\nchunk {}", nested(32)));
    assert_eq!(depth_of(text.lines().find(|line| line.contains("suspended")).unwrap()), 32);
    let text = transcript(&format!("open Greeter/greet v7\nhead 200\nchunk {}", nested(1000)));
    let suspended = text.lines().find(|line| line.contains("suspended")).unwrap();
    assert_eq!(depth_of(suspended), 32);
    let innermost = suspended.rsplit_once('(').unwrap();
    assert!(innermost.0.ends_with("Unknown"), "{suspended}");
    assert_eq!(innermost.1.matches('7').count(), 1000 - 32);
}

#[test]
fn a_future_that_is_too_deep_pauses() {
    let text = transcript(&format!("open Greeter/greet v7\nhead 200\nchunk {}", nested(1001)));
    let failed = text.lines().find(|line| line.contains("failed")).unwrap();
    expect!["      failed 500 HF0086 Pause: the service waits for combinators nested deeper than 1000; flatten them"].assert_eq(failed);
}

#[test]
fn what_came_before_a_broken_message_is_said() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1} Sleep{1:5 11:2} Call{1:\"Nobody\" 2:\"x\" 10:3 11:4 12:\"call it\"} Run{11:5}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1} Sleep{1:5 11:2} Call{1:"Nobody" 2:"x" 10:3 11:4 12:"call it"} Run{11:5}
                say
                  Run 5801
                  Sleep 08055802
                  failed 500 HF0087 Retry at Some(3) Some("call it") Some(Call (0x040d)): no handler `Nobody/x` is registered; register its deployment first
                reset
                finished
        "#]],
    );
}

#[test]
fn the_index_of_a_broken_command_counts_commands_only() {
    check(
        "open Greeter/greet v6
         entry Input{14:{}}
         entry Run{11:1}
         entry RunCompletion{1:1 5:{}}
         head 200
         chunk SetState{1:\"a\" 3:{} 12:\"set it\"}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371803
                send Input 04000000000000027200
                send Run 04110000000000025801
                send RunCompletion 801100000000000408012a00
            head 200
            chunk SetState{1:"a" 3:{} 12:"set it"}
                say
                  failed 500 HF0089 Retry at Some(2) Some("set it") Some(SetState (0x0403)): changing state is not allowed in a plain service
                reset
                finished
        "#]],
    );
}

#[test]
fn much_that_is_said_at_once_is_split() {
    let chunk = "Run{} ".repeat(SAID_MAX * 2 + 1);
    let text = transcript(&format!(
        "open Greeter/greet v6\nhead 200\nchunk {chunk} Output{{14:{{}}}} End{{}}"
    ));
    let lines = text.lines().map(str::trim).collect::<Vec<_>>();
    let says = lines.split(|line| *line == "say").skip(1).map(|say| say.len()).collect::<Vec<_>>();
    assert_eq!(says, [SAID_MAX, SAID_MAX, "Run Output completed half-close".split(' ').count()]);
}
