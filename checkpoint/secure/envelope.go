package secure

// A sealed body begins with a form byte and the id of the key, length first. No body of the runtime begins with one of these
// bytes: records begin with 1, the others are JSON.
//
//	encrypted       0xE1, id, nonce (12), ciphertext, tag (16)
//	signed record   0xA1, id, flags (1), MAC of the record before (32), MAC (32), body
//	signed row      0xA2, id, MAC (32), body
type form byte

const (
	formEncrypted    form = 0xE1
	formSignedRecord form = 0xA1
	formSignedRow    form = 0xA2
)

const maxKeyID = 64

// appendHeader begins a sealed body.
func appendHeader(b []byte, f form, id string) []byte {
	return append(append(b, byte(f), byte(len(id))), id...)
}

// cutHeader reads what appendHeader wrote. rest is a part of b.
func cutHeader(b []byte) (id string, header, rest []byte, ok bool) {
	if len(b) < 2 || b[1] == 0 || b[1] > maxKeyID || len(b) < 2+int(b[1]) {
		return "", nil, nil, false
	}
	n := 2 + int(b[1])
	return string(b[2:n]), b[:n], b[n:], true
}

// sealed reports whether a stored body claims to be of that form.
func sealed(b []byte, f form) bool { return len(b) > 0 && form(b[0]) == f }
