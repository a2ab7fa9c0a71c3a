//! State, with the start and key by key.

use super::*;

#[test]
fn state_sent_with_the_start() {
    let input = "04000000000000670a290a16782d726573746174652d696e67726573732d70617468120f2f436f756e7465722f6b312f6164640a200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e0a130a0e636f6e74656e742d6c656e67746812013172030a0133";
    check(
        &format!(
            "open Counter/add v6 id=inv_1foAirY4KKzi3dC9eU06DqdslPc41BirZ4 seed=2275205355629387086
             entry {input}
             sends 00000000000000520a18548ae3cba54055b3d693a6bdacf7336ca4871a789636c9691226696e765f31666f41697259344b4b7a693364433965553036447164736c506334314269725a34180132026b3148cebaecaaf6e6c9c91f {input}
             head 200
             chunk 04070000000000090a05636f756e746a00 040300000000000c0a05636f756e741a030a0133 040100000000000572030a0133 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 04070000000000090a05636f756e746a00 040300000000000c0a05636f756e741a030a0133 040100
                say
                  GetEagerState 0a05636f756e746a00
                  SetState 0a05636f756e741a030a0133
                  Output 72030a0133
                  completed
                half-close
            end
                finished
        "#]],
    );
    check(
        &format!(
            "open Counter/add v6 id=inv_1foAirY4KKzi77aNYwm7jsi0JR4Uu5AUxj seed=9191211973184245201 state=count:3
             entry {input}
             sends 000000000000005e0a18548ae3cba54055b361dfe4828d771ec37e410e53cfcccce91226696e765f31666f41697259344b4b7a693737614e59776d376a7369304a52345575354155786a1801220a0a05636f756e7412013332026b3148d19bdbe7fad2efc67f {input}
             head 200
             chunk 040700000000000c0a05636f756e7472030a0133 040300000000000c0a05636f756e741a030a0137"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040700000000000c0a05636f756e7472030a0133 040300000000000c0a05636f756e741a030a0137
        "#]],
    );
}

#[test]
fn state_read_key_by_key() {
    check(
        "open Counter/add v6 partial
         head 200
         chunk 04020000000000090a05636f756e745801
         stored 2 800200000000000408012200
         sends 800200000000000408012200
         chunk 04060000000000025802
         stored 4 800600000000000c08018a01070a05636f756e74
         sends 800600000000000c08018a01070a05636f756e74
         chunk 040800000000000972070a05636f756e74 04040000000000070a05636f756e74 0405000000000000",
        expect![[r#"
            open
                send Start 000000000000004a0a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801280132026b31
                send Input 04000000000000027200
            head 200
            chunk 04020000000000090a05636f756e745801
                say
                  GetLazyState 0a05636f756e745801
            stored 2 800200000000000408012200
                sends GetLazyStateCompletion
            chunk 04060000000000025802
                say
                  GetLazyStateKeys 5802
            stored 4 800600000000000c08018a01070a05636f756e74
                sends GetLazyStateKeysCompletion
            chunk 040800000000000972070a05636f756e74 04040000000000070a05636f756e74 0405000000000000
        "#]],
    );
}
