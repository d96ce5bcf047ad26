package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/internal/stores"
)

// options say which store is meant.
type options struct {
	env           func(string) string
	store         string
	memory        []string
	encrypt, sign string // files of keys
	adopt         bool
}

func (o *options) declare(f *flag.FlagSet) {
	f.StringVar(&o.store, "store", "", "`URL` of the store: path, sqlite:path, postgres:// or redis://; or HOLDFAST_STORE")
	f.Func("memory", "`URL` of memory: path, sqlite:path or postgres://, also several times; or HOLDFAST_MEMORY with commas; default: where the store is",
		func(s string) error { o.memory = append(o.memory, s); return nil })
	f.StringVar(&o.encrypt, "encrypt-keys", "", "`file` with the keys of an encrypted store; or HOLDFAST_ENCRYPT_KEYS with the keys")
	f.StringVar(&o.sign, "sign-keys", "", "`file` with the keys of a signed store; or HOLDFAST_SIGN_KEYS with the keys")
	f.BoolVar(&o.adopt, "adopt", false, "also accept rows that are not sealed")
}

// errNoStore is a mistake of usage.
var errNoStore = errors.New("which store? Say -store URL, or set HOLDFAST_STORE")

// open opens the store, with the wrappers that there are keys for.
func (o *options) open(ctx context.Context) (checkpoint.Store, error) {
	url := o.url()
	if url == "" {
		return nil, errNoStore
	}
	sign, err := o.keys(o.sign, "HOLDFAST_SIGN_KEYS")
	if err != nil {
		return nil, err
	}
	encrypt, err := o.keys(o.encrypt, "HOLDFAST_ENCRYPT_KEYS")
	if err != nil {
		return nil, err
	}
	store, err := stores.Existing(ctx, url)
	if err != nil {
		return nil, err
	}
	sealed, err := seal(store, sign, encrypt)
	if err != nil {
		store.Close()
		return nil, err
	}
	return sealed, nil
}

// url is where the threads are, or "".
func (o *options) url() string {
	if o.store != "" {
		return o.store
	}
	return o.env("HOLDFAST_STORE")
}

func seal(store checkpoint.Store, sign, encrypt *secure.Keyring) (checkpoint.Store, error) {
	if sign != nil {
		s, err := secure.Sign(store, *sign)
		if err != nil {
			return nil, fmt.Errorf("signatures: %w", err)
		}
		store = s
	}
	if encrypt != nil {
		s, err := secure.Encrypt(store, *encrypt)
		if err != nil {
			return nil, fmt.Errorf("encryption: %w", err)
		}
		store = s
	}
	return store, nil
}

// keys reads a keyring from a file or a variable of the environment; nil if there is none.
func (o *options) keys(file, variable string) (*secure.Keyring, error) {
	text, from := o.env(variable), variable
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text, from = string(b), file
	}
	if strings.TrimSpace(text) == "" {
		if file != "" {
			return nil, fmt.Errorf("%s has no keys", from)
		}
		return nil, nil
	}
	keys, err := parseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return &secure.Keyring{Current: keys[0], Older: keys[1:], Adopt: o.adopt}, nil
}

// parseKeys reads id:key pairs. No error holds anything of a key.
func parseKeys(text string) (keys []secure.Key, err error) {
	for i, item := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' }) {
		item = strings.TrimSpace(item)
		if item == "" || item[0] == '#' {
			continue
		}
		id, key, ok := strings.Cut(item, ":")
		b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
		if !ok || err != nil || len(b) != secure.KeyBytes {
			return nil, fmt.Errorf("key %d is not id:key with %d bytes in base64", i+1, secure.KeyBytes)
		}
		keys = append(keys, secure.Key{ID: strings.TrimSpace(id), Bytes: b})
	}
	if len(keys) == 0 {
		return nil, errors.New("there are no keys")
	}
	return keys, nil
}
