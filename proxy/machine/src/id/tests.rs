//! Ids against vectors that were computed with, or seen from, the server whose ids they are.

use super::*;
use proptest::prelude::*;

fn invocation(hex: &str) -> InvocationId {
    let value = |range: std::ops::Range<usize>| u128::from_str_radix(&hex[range], 16).unwrap();
    let key = u64::try_from(value(0..16)).unwrap();
    InvocationId { partition_key: PartitionKey(key), uuid: value(16..48) }
}

/// Raw bytes, invocation id, awakeable id of signal 17.
const VECTORS: [[&str; 3]; 7] = [
    [
        "88065a7276c4d3647a8308fd7732760ca308d8dab73c1aa8",
        "inv_18EHshVyGfyw57cHu1q3JsVFmG28FxYQ2u",
        "sign_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAEQ",
    ],
    [
        "548ae3cba54055b3a26b294bc47accb80bfba6691560ef61",
        "inv_1foAirY4KKzi2YNEkHKw2cTjoj66GanEoa",
        "sign_1VIrjy6VAVbOiaylLxHrMuAv7pmkVYO9hAAAAEQ",
    ],
    [
        "5164c775648d211bfc1b0e11991cc94920918243914fad60",
        "inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8",
        "sign_1UWTHdWSNIRv8Gw4RmRzJSSCRgkORT61gAAAAEQ",
    ],
    [
        "27c222e25717715524e8b03f707d6921e4a1fff217e31573",
        "inv_17kNSu3KYJOT3va7rofiF7asJkkB0XMoOU",
        "sign_1J8Ii4lcXcVUk6LA_cH1pIeSh__IX4xVzAAAAEQ",
    ],
    [
        "000000000000000000000000000000000000000000000001",
        "inv_10000000000001SZwviYzes2mjOamuMJWw",
        "sign_1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAEQ",
    ],
    [
        "00000000000000010000000000000000000000000000000f",
        "inv_105k1wlNFHb20siSRzAEwuMzoN8vrrN79K",
        "sign_1AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAPAAAAEQ",
    ],
    [
        "ffffffffffffffffffffffffffffffffffffffffffffffff",
        "inv_1lYGhA16ahyf7N42dgm5tFLK9N8MT7fHC7",
        "sign_1________________________________AAAAEQ",
    ],
];

#[test]
fn invocation_and_awakeable_ids_have_their_known_text() {
    for [hex, text, awakeable] in VECTORS {
        let id = invocation(hex);
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(InvocationId::from_bytes(id.to_bytes()), id);
        let owner = AwakeableId { invocation: id, signal: FIRST_AWAKEABLE };
        assert_eq!(owner.to_string(), awakeable);
        assert_eq!(awakeable.parse(), Ok(owner));
    }
    let other = AwakeableId { invocation: invocation(VECTORS[0][0]), signal: 18 };
    assert_eq!(other.to_string(), "sign_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAEg");
}

#[test]
fn numbers_are_swapped_and_padded() {
    let text = |value: u64| {
        let mut text = String::new();
        push_base62(&mut text, u128::from(value.swap_bytes()), U64_DIGITS);
        text
    };
    assert_eq!(text(0), "00000000000");
    assert_eq!(text(1), "05k1wlNFHb2");
    assert_eq!(text(61), "5eHuPrS1tQY");
    assert_eq!(text(62), "5k1wlNFHb20");
    assert_eq!(text(u64::MAX), "lYGhA16ahyf");
}

#[test]
fn keys_and_buckets_have_their_known_hash() {
    let keys = [
        ("", 0xd6bc_ec3c_6b29_d72e),
        ("k", 0x6dce_c853_edb4_590a),
        ("k1", 0x548a_e3cb_a540_55b3),
        ("w1", 0x5164_c775_648d_211b),
        ("my-key", 0x842e_fcb1_2c91_6e58),
        ("héllo", 0x50f1_39af_008b_f00c),
    ];
    for (key, hash) in keys {
        assert_eq!(PartitionKey::of_key(key), PartitionKey(hash), "{key}");
    }
    let buckets = [
        (0, 0xb848_2bbd_25b7_de4a),
        (88, 0x4db3_4417_8faf_dd11),
        (258, 0x8806_5a72_76c4_d364),
        (511, 0x450d_a5b9_ba3a_cc39),
    ];
    for (bucket, hash) in buckets {
        assert_eq!(PartitionKey::of_service("Greeter", bucket), PartitionKey(hash), "{bucket}");
        assert_eq!(PartitionKey::of_service("Greeter", bucket + 512), PartitionKey(hash));
    }
}

#[test]
fn derived_ids_have_their_known_text() {
    let workflow = InvocationId::workflow("Wf", "w1");
    assert_eq!(workflow.to_string(), "inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8");
    let service = InvocationId::idempotent("Greeter", None, "greet", "my-key");
    assert_eq!(service.uuid, 0x7af5_77ec_35b0_831c_c647_495c_2012_74a3);
    assert_eq!(service.to_string(), "inv_11x6cJlusUs54YqNdo5AAzdYrYOmeoHQrU");
    let object = InvocationId::idempotent("Counter", Some("k1"), "add", "idem-1");
    assert_eq!(object.to_string(), "inv_1foAirY4KKzi0XqKwft6YemHoMs0867T1j");
}

#[test]
fn a_key_with_a_time_gives_an_id_with_that_time() {
    fn of(handler: &str, key: &str) -> u128 {
        InvocationId::idempotent("Greeter", None, handler, key).uuid
    }
    let key = ulid::text(Timestamp(1_795_965_303_012), 7);
    assert_eq!(of("greet", &key) >> 80, 1_795_965_303_012);
    assert_eq!(of("greet", &key), of("greet", &key));
    assert_ne!(of("greet", &key), of("wave", &key));
    assert_ne!(of("greet", &key), of("greet", &ulid::text(Timestamp(1_795_965_303_012), 8)));
    assert_ne!(of("greet", &key.to_lowercase()) >> 80, 1_795_965_303_012);
    let parent = InvocationId::random("Greeter", None, 7, 1);
    assert_eq!(InvocationId::child(parent, 1, None).uuid >> 80, 7);
}

#[test]
fn deployment_ids_have_their_known_text() {
    let vectors = [
        (0x01a2_27df_b8e4_4d83_3a8f_d89a_5504_7aa1, "dp_14UHwE0OtF0jM9yERmIT2uJ"),
        (1, "dp_101SZwviYzes2mjOamuMJWw"),
        (0x0189_0a5d_0000_0000_0000_0000_dead_beef, "dp_17ioj1eHLWym9s1RNZhhsVr"),
    ];
    for (raw, text) in vectors {
        assert_eq!(DeploymentId(raw).to_string(), text);
        assert_eq!(text.parse(), Ok(DeploymentId(raw)));
    }
}

#[test]
fn chance_does_not_reach_into_the_time() {
    let id = DeploymentId::new(1_795_965_303_012, u128::MAX);
    assert_eq!(id.0 >> 80, 1_795_965_303_012);
    let invocation = InvocationId::random("Greeter", None, 7, u128::MAX);
    assert_eq!(invocation.uuid >> 80, 7);
    let keyed = InvocationId::random("Counter", Some("k1"), 7, 1);
    assert_eq!(keyed.partition_key, PartitionKey::of_key("k1"));
}

#[test]
fn children_differ_by_entry_and_live_with_their_key_or_their_parent() {
    let parent = InvocationId::workflow("Wf", "w1");
    let child = InvocationId::child(parent, 1, None);
    assert_eq!(child.partition_key, parent.partition_key);
    assert_ne!(child.uuid, InvocationId::child(parent, 2, None).uuid);
    let keyed = InvocationId::child(parent, 1, Some("k1"));
    assert_eq!(keyed.partition_key, PartitionKey::of_key("k1"));
}

#[test]
fn what_is_no_id_is_refused() {
    let invocations = [
        "",
        "inv_1",
        "inv_18EHshVyGfyw57cHu1q3JsVFmG28FxYQ2",
        "inv_18EHshVyGfyw57cHu1q3JsVFmG28FxYQ2uu",
        "inv_28EHshVyGfyw57cHu1q3JsVFmG28FxYQ2u",
        "inv_1-EHshVyGfyw57cHu1q3JsVFmG28FxYQ2u",
        "inv_1ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "dp_14UHwE0OtF0jM9yERmIT2uJ",
        "inv_1éééééééééééééééé0",
    ];
    for text in invocations {
        assert!(text.parse::<InvocationId>().is_err(), "{text}");
    }
    assert!("dp_1ZZZZZZZZZZZZZZZZZZZZZZ".parse::<DeploymentId>().is_err());
    assert!("prom_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAAQ".parse::<AwakeableId>().is_err());
    assert!("sign_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAA".parse::<AwakeableId>().is_err());
    assert!("sign_1iAZacnbE02R6gwj9dzJ2DKMI2Nq3PBqoAAAAEQ==".parse::<AwakeableId>().is_ok());
    let long = "x".repeat(1000).parse::<InvocationId>().unwrap_err();
    assert!(long.to_string().len() < 200, "an error does not echo all it was given");
}

#[test]
fn partitions_share_all_keys_evenly() {
    let partitions = Partitions(3);
    assert_eq!(partitions.of(PartitionKey(0)), PartitionId(0));
    assert_eq!(partitions.of(PartitionKey(u64::MAX)), PartitionId(2));
    assert_eq!(partitions.of(PartitionKey(u64::MAX / 2)), PartitionId(1));
    assert_eq!(partitions.all().count(), 3);
    assert_eq!(Partitions(1).of(PartitionKey(u64::MAX)), PartitionId(0));
}

proptest! {
    #[test]
    fn texts_round_trip(key: u64, uuid: u128, signal: u32) {
        let id = InvocationId { partition_key: PartitionKey(key), uuid };
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(InvocationId::from_slice(&id.to_bytes()), Some(id));
        let awakeable = AwakeableId { invocation: id, signal };
        prop_assert_eq!(awakeable.to_string().parse(), Ok(awakeable));
        prop_assert_eq!(DeploymentId(uuid).to_string().parse(), Ok(DeploymentId(uuid)));
    }

    #[test]
    fn any_text_is_an_id_or_refused(text: String) {
        let _ = text.parse::<InvocationId>();
        let _ = text.parse::<DeploymentId>();
        let _ = text.parse::<AwakeableId>();
    }

    #[test]
    fn partitions_are_ranges_in_order(a: u64, b: u64, count in 1u16..) {
        let partitions = Partitions(count);
        let [low, high] = [a.min(b), a.max(b)].map(|key| partitions.of(PartitionKey(key)));
        prop_assert!(low <= high && high.0 < count);
    }
}
