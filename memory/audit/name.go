package audit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// newName makes a pseudonym of a user.
func newName(user string) Name {
	n := Name{User: user, Secret: make([]byte, 32)}
	rand.Read(n.Secret) // never fails
	n.Token = n.token()
	return n
}

// token commits to the user and says nothing of them without the secret.
func (n Name) token() string { return hex.EncodeToString(n.key("user " + n.User)[:16]) }

func (n Name) key(use string) []byte {
	h := hmac.New(sha256.New, n.Secret)
	h.Write([]byte(use))
	return h.Sum(nil)
}

// seal encrypts an id, always in the same way: the nonce is made of the id, which is also what open checks.
func (n Name) seal(id string) string {
	if id == "" {
		return ""
	}
	out := append(n.key("id " + id)[:aes.BlockSize], id...)
	n.stream(out[:aes.BlockSize]).XORKeyStream(out[aes.BlockSize:], out[aes.BlockSize:])
	return base64.RawURLEncoding.EncodeToString(out)
}

// open returns the id that was sealed.
func (n Name) open(sealed string) (id string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(b) < aes.BlockSize {
		return "", sealed == ""
	}
	nonce, text := b[:aes.BlockSize], b[aes.BlockSize:]
	n.stream(nonce).XORKeyStream(text, text)
	return string(text), subtle.ConstantTimeCompare(nonce, n.key("id " + string(text))[:aes.BlockSize]) == 1
}

func (n Name) stream(nonce []byte) cipher.Stream {
	block, err := aes.NewCipher(n.key("cipher"))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return cipher.NewCTR(block, nonce)
}
