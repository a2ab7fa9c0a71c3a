//! Reads the fields of an encoded protobuf message one by one, without copying and without
//! recursion. Only for what a generated type cannot do: trees of any depth, and one field of many.

/// Why bytes are not a message.
pub(super) type Broken = &'static str;

const TRUNCATED: Broken = "it ends in the middle of a field";

/// The value of one field.
pub(super) enum Value<'m> {
    Number(usize),
    Bytes(&'m [u8]),
    /// Of a fixed width, which no message here has.
    Other,
}

/// Takes the first field off a message: its number and value. `None` at the end.
pub(super) fn next<'m>(message: &mut &'m [u8]) -> Result<Option<(usize, Value<'m>)>, Broken> {
    if message.is_empty() {
        return Ok(None);
    }
    let key = varint(message)?;
    let value = match key & 7 {
        0 => Value::Number(varint(message)?),
        1 => take(message, 8).map(|_| Value::Other)?,
        2 => {
            let length = varint(message)?;
            Value::Bytes(take(message, length)?)
        }
        5 => take(message, 4).map(|_| Value::Other)?,
        _ => return Err("it has a field of an unknown wire type"),
    };
    Ok(Some((key >> 3, value)))
}

/// The last occurrence of the length-delimited field `number`.
pub(super) fn bytes(mut message: &[u8], number: usize) -> Result<Option<&[u8]>, Broken> {
    let mut found = None;
    while let Some((seen, value)) = next(&mut message)? {
        if let (true, Value::Bytes(value)) = (seen == number, value) {
            found = Some(value);
        }
    }
    Ok(found)
}

/// The last occurrence of the number `number`.
pub(super) fn number(mut message: &[u8], number: usize) -> Result<Option<u32>, Broken> {
    let mut found = None;
    while let Some((seen, value)) = next(&mut message)? {
        if let (true, Value::Number(value)) = (seen == number, value) {
            found = Some(value as u32);
        }
    }
    Ok(found)
}

impl Value<'_> {
    /// The numbers of a repeated field, packed or not.
    pub(super) fn numbers(self) -> Result<Vec<u32>, Broken> {
        match self {
            Value::Number(number) => Ok(vec![number as u32]),
            Value::Bytes(mut packed) => {
                let mut numbers = vec![];
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)? as u32);
                }
                Ok(numbers)
            }
            Value::Other => Err("it has a number of fixed width"),
        }
    }
}

fn varint(message: &mut &[u8]) -> Result<usize, Broken> {
    prost::decode_length_delimiter(message).map_err(|_| TRUNCATED)
}

fn take<'m>(message: &mut &'m [u8], length: usize) -> Result<&'m [u8], Broken> {
    message.split_off(..length).ok_or(TRUNCATED)
}
