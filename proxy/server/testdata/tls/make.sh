#!/bin/sh
# Makes the certificates of the tests again: an authority, and a leaf for loopback, 100 years each.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 \
    -subj "/CN=Holdfast test authority" -addext "keyUsage=critical,keyCertSign" \
    -keyout authority.key -out authority.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" \
    -keyout leaf.key -out leaf.csr
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=critical,CA:FALSE\n' > leaf.ext
openssl x509 -req -in leaf.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 36500 \
    -extfile leaf.ext -out leaf.pem
rm -f leaf.csr leaf.ext authority.key authority.srl
