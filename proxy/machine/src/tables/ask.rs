//! `a | partition:u16 | root:24 | number:u32` -> `Ask`, and `y | partition:u16 | id:24` ->
//! `AskPlace`, which leads from the id of an ask to its row. Open asks, and closed ones for as long
//! as the root is kept, so that who answers too late is told what was answered.
//! `b | partition:u16 | root:24 | caller:24 | number:u32` -> nothing, of the open ones: they are
//! found without a look at all that was ever asked.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::convert::*;
use super::invocation::{sink_in, sink_out};
use super::{TableId, generated as pb};
use crate::ask::{Action, Ask, AskKind, Asks, Closed, Closing, Form};
use crate::id::{AskId, InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Ask;
const PLACES: TableId = TableId::AskPlace;
const OPEN: TableId = TableId::AskOpen;

/// Where no more were ever asked, they are looked at one by one: a scan costs more.
const FEW: u32 = 4;

fn key(partition: PartitionId, root: InvocationId, number: u32) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(root).u32(number).done()
}

fn place_key(partition: PartitionId, id: AskId) -> Vec<u8> {
    KeyWriter::new(PLACES, partition).id(id.invocation()).done()
}

fn open_key(partition: PartitionId, ask: &Ask) -> Vec<u8> {
    KeyWriter::new(OPEN, partition).id(ask.root).id(ask.caller).u32(ask.number).done()
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    root: InvocationId,
    number: u32,
) -> Result<Option<Ask>, Fault> {
    kv.get(&key(partition, root, number))?.map(row_in).transpose()
}

/// Where the ask with that id is: its root and its number.
pub fn place(
    kv: &dyn Kv,
    partition: PartitionId,
    id: AskId,
) -> Result<Option<(InvocationId, u32)>, Fault> {
    let Some(value) = kv.get(&place_key(partition, id))? else {
        return Ok(None);
    };
    let row: pb::AskPlace = decode(PLACES, value)?;
    let root = id_in(&row.root).map_err(|bad| bad.of(PLACES))?;
    Ok(Some((root, row.number)))
}

/// The ask with that id.
pub fn find(kv: &dyn Kv, partition: PartitionId, id: AskId) -> Result<Option<Ask>, Fault> {
    match place(kv, partition, id)? {
        Some((root, number)) => get(kv, partition, root, number),
        None => Ok(None),
    }
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, ask: &Ask) {
    assert!(ask.number > 0, "an ask has a number when it is opened");
    let place = pb::AskPlace { root: id_out(ask.root), number: ask.number };
    txn.put(place_key(partition, ask.id), encode(&place));
    txn.put(key(partition, ask.root, ask.number), encode(&ask_out(ask)));
    match ask.closed {
        None => txn.put(open_key(partition, ask), Bytes::new()),
        Some(_) => txn.delete(open_key(partition, ask)),
    }
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, ask: &Ask) {
    txn.delete(place_key(partition, ask.id));
    txn.delete(key(partition, ask.root, ask.number));
    txn.delete(open_key(partition, ask));
}

/// All asks under a root from number `from` on, by number, until `each` answers false.
pub fn scan_root(
    kv: &dyn Kv,
    partition: PartitionId,
    root: InvocationId,
    from: u32,
    each: &mut dyn FnMut(Ask) -> bool,
) -> Result<(), Fault> {
    let end = after(&KeyWriter::new(TABLE, partition).id(root).done());
    scan_rows(kv, &key(partition, root, from), &end, &mut |_, value| Ok(each(row_in(value)?)))
}

/// The open asks of a root that counts them as `asks`, by number.
pub fn open(
    kv: &dyn Kv,
    partition: PartitionId,
    root: InvocationId,
    asks: Asks,
) -> Result<Vec<Ask>, Fault> {
    if asks.open() == 0 {
        return Ok(vec![]);
    }
    let numbers = match asks.opened - asks.left {
        ..=FEW => (asks.left + 1..=asks.opened).collect(),
        _ => {
            let mut numbers = open_numbers(kv, partition, root, None)?;
            numbers.retain(|number| asks.has(*number));
            numbers
        }
    };
    let mut open = Vec::with_capacity(numbers.len());
    for number in numbers {
        open.extend(get(kv, partition, root, number)?.filter(|ask| ask.closed.is_none()));
    }
    Ok(open)
}

/// The open asks of `caller` under a root, by number.
pub fn open_of(
    kv: &dyn Kv,
    partition: PartitionId,
    root: InvocationId,
    caller: InvocationId,
) -> Result<Vec<Ask>, Fault> {
    let numbers = open_numbers(kv, partition, root, Some(caller))?;
    let rows = numbers.into_iter().map(|number| get(kv, partition, root, number));
    rows.filter_map(Result::transpose).collect()
}

fn open_numbers(
    kv: &dyn Kv,
    partition: PartitionId,
    root: InvocationId,
    caller: Option<InvocationId>,
) -> Result<Vec<u32>, Fault> {
    let under = KeyWriter::new(OPEN, partition).id(root);
    let prefix = caller.into_iter().fold(under, KeyWriter::id).done();
    let mut numbers = vec![];
    scan_rows(kv, &prefix, &after(&prefix), &mut |key, _| {
        let (.., number) = parse_open(key).ok_or_else(|| corrupt(OPEN, "a key is malformed"))?;
        numbers.push(number);
        Ok(true)
    })?;
    numbers.sort_unstable();
    Ok(numbers)
}

/// Shows all asks of a partition, by root and number, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(Ask) -> bool,
) -> Result<(), Fault> {
    let prefix = KeyWriter::new(TABLE, partition).done();
    scan_rows(kv, &prefix, &after(&prefix), &mut |_, value| Ok(each(row_in(value)?)))
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, u32)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (partition, reader.id()?, reader.u32()?);
    reader.end(parsed)
}

/// Takes the key of an open ask apart: root, caller and number.
pub fn parse_open(key: &[u8]) -> Option<(PartitionId, InvocationId, InvocationId, u32)> {
    let (partition, mut reader) = KeyReader::new(OPEN, key)?;
    let parsed = (partition, reader.id()?, reader.id()?, reader.u32()?);
    reader.end(parsed)
}

fn row_in(value: Bytes) -> Result<Ask, Fault> {
    let row: pb::Ask = decode(TABLE, value)?;
    ask_in(row).map_err(|bad| bad.of(TABLE))
}

pub fn ask_out(ask: &Ask) -> pb::Ask {
    let kind = match ask.kind {
        AskKind::Input => pb::AskKind::Input,
        AskKind::Auth => pb::AskKind::Auth,
    };
    pb::Ask {
        id: id_out(ask.id.invocation()),
        number: ask.number,
        root: id_out(ask.root),
        caller: id_out(ask.caller),
        asked_by: Some(target_out(&ask.asked_by)),
        kind: kind.into(),
        message: ask.message.clone(),
        form: ask.form.to_row().to_string().into(),
        to: ask.to.clone(),
        url: ask.url.clone(),
        opened_at: ask.opened_at.0,
        expires_at: ask.expires_at.map(|at| at.0),
        whole_message: ask.whole_message,
        sink: ask.sink.as_ref().map(sink_out),
        closed: ask.closed.as_ref().map(closed_out),
    }
}

pub fn ask_in(row: pb::Ask) -> Result<Ask, Bad> {
    let kind = match row.kind() {
        pb::AskKind::Input => AskKind::Input,
        pb::AskKind::Auth => AskKind::Auth,
        pb::AskKind::Unspecified => return Err(Bad("the kind of an ask is unknown")),
    };
    let form = serde_json::from_slice(&row.form).map_err(|_| Bad("the form is no JSON"))?;
    Ok(Ask {
        id: AskId::of(id_in(&row.id)?),
        number: row.number,
        root: id_in(&row.root)?,
        caller: id_in(&row.caller)?,
        asked_by: target_in(row.asked_by)?,
        kind,
        message: row.message,
        form: Form::read_row(Some(&form)).map_err(|_| Bad("the form cannot be read"))?,
        to: row.to,
        url: row.url,
        opened_at: Timestamp(row.opened_at),
        expires_at: row.expires_at.map(Timestamp),
        whole_message: row.whole_message,
        sink: row.sink.map(sink_in).transpose()?,
        closed: row.closed.map(closed_in).transpose()?,
    })
}

pub fn action_out(action: Action) -> pb::AskAction {
    match action {
        Action::Accept => pb::AskAction::Accept,
        Action::Decline => pb::AskAction::Decline,
        Action::Cancel => pb::AskAction::Cancel,
    }
}

pub fn action_in(action: pb::AskAction) -> Result<Action, Bad> {
    match action {
        pb::AskAction::Accept => Ok(Action::Accept),
        pb::AskAction::Decline => Ok(Action::Decline),
        pb::AskAction::Cancel => Ok(Action::Cancel),
        pb::AskAction::Unspecified => Err(Bad("an action is unknown")),
    }
}

pub fn closed_out(closed: &Closed) -> pb::ClosedAsk {
    let how = match closed.how {
        Closing::Answered => pb::AskClosing::Answered,
        Closing::Expired => pb::AskClosing::Expired,
        Closing::Withdrawn => pb::AskClosing::Withdrawn,
    };
    pb::ClosedAsk {
        at: closed.at.0,
        how: how.into(),
        action: action_out(closed.action).into(),
        by: closed.by.clone(),
        content: closed.content.clone(),
    }
}

pub fn closed_in(row: pb::ClosedAsk) -> Result<Closed, Bad> {
    let how = match row.how() {
        pb::AskClosing::Answered => Closing::Answered,
        pb::AskClosing::Expired => Closing::Expired,
        pb::AskClosing::Withdrawn => Closing::Withdrawn,
        pb::AskClosing::Unspecified => return Err(Bad("how an ask was closed is unknown")),
    };
    let action = action_in(row.action())?;
    Ok(Closed { at: Timestamp(row.at), how, action, by: row.by, content: row.content })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_round_trip(partition in arbitrary::partition(), ask in arbitrary::ask()) {
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, &ask);
            kv.apply(txn.into_writes());
            let found = find(&kv, partition, ask.id).unwrap();
            prop_assert_eq!(found, Some(ask.clone()));
            let is_open = usize::from(ask.closed.is_none());
            for left in [0, ask.number - 1] {
                let asks = Asks { opened: ask.number, input: 1, auth: 0, left };
                prop_assert_eq!(open(&kv, partition, ask.root, asks).unwrap().len(), is_open);
            }
            prop_assert_eq!(open_of(&kv, partition, ask.root, ask.caller).unwrap().len(), is_open);
            let mut seen = vec![];
            scan(&kv, partition, &mut |ask| {
                seen.push(ask);
                true
            })
            .unwrap();
            prop_assert_eq!(seen, vec![ask.clone()]);
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, &ask);
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id(), any::<u32>()),
            b in (arbitrary::partition(), arbitrary::id(), any::<u32>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1, a.2)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1, a.2).cmp(&key(b.0, b.1, b.2)));
        }

        #[test]
        fn keys_of_open_ones_round_trip(partition in arbitrary::partition(), ask in arbitrary::ask()) {
            let parsed = parse_open(&open_key(partition, &ask));
            prop_assert_eq!(parsed, Some((partition, ask.root, ask.caller, ask.number)));
        }
    }
}
