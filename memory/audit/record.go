package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory"
)

// Record implements memory.Auditor. It returns when the entry is as durable as the back end makes it. Accesses of one tenant that come
// while a transaction is under way share the next one: many at once cost hardly more than one.
//
// A context that ends is an ErrUnavailable; the access may be noted nevertheless.
func (l *Log) Record(ctx context.Context, a memory.Access) error {
	if err := checkAccess(a); err != nil {
		return err
	}
	return l.within(ctx, l.o.OpTimeout, func(ctx context.Context) error { return l.groups.join(ctx, a, l.append) })
}

func checkTenant(tenant string) error {
	if _, err := memory.NewScope(tenant, "-"); err != nil {
		return fmt.Errorf("%w: %w", ErrAccess, err)
	}
	return nil
}

// checkAccess refuses what a back end would, for the whole group.
func checkAccess(a memory.Access) error {
	if _, err := memory.NewScope(a.Tenant, cmp.Or(a.User, "-")); err != nil {
		return fmt.Errorf("%w: %w", ErrAccess, err)
	}
	for _, text := range append([]string{a.Agent, a.Box, a.Verb, a.Conversation, a.Result}, a.Items...) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%w: %.80q", ErrAccess, text)
		}
	}
	return nil
}

// append adds accesses of one tenant in one transaction. They wait for each other, so none of their contexts may end it.
func (l *Log) append(tenant string, as []memory.Access) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.o.OpTimeout)
	defer cancel()
	return l.back.Update(ctx, tenant, func(tx Tx) error {
		names, made, err := namesFor(ctx, tx, tenant, as)
		if err != nil {
			return err
		}
		rows := make([]Row, len(as))
		for i, a := range as {
			rows[i] = rowOf(a, names[a.User])
		}
		return chain(ctx, tx, tenant, made, rows...)
	})
}

// chain puts rows at the end.
func chain(ctx context.Context, tx Tx, tenant string, names []Name, rows ...Row) error {
	h, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].At = tx.Now()
		rows[i].after(tenant, &h)
	}
	return tx.Append(ctx, h, names, rows)
}

// namesFor are those of all users of accesses, and among them those that were made just now.
func namesFor(ctx context.Context, tx Tx, tenant string, as []memory.Access) (all map[string]Name, made []Name, err error) {
	all = map[string]Name{}
	var users []string
	for _, a := range as {
		if _, seen := all[a.User]; a.User != "" && !seen {
			all[a.User] = Name{}
			users = append(users, a.User)
		}
	}
	if len(users) == 0 {
		return all, nil, nil
	}
	known, err := tx.NamesOf(ctx, users)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range known {
		all[n.User] = n
	}
	users = slices.DeleteFunc(users, func(u string) bool { return all[u].Token != "" })
	erased, err := erasedOf(ctx, tx, tenant, users)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range users {
		if erased[u] {
			all[u] = Name{Token: Forgotten}
			continue
		}
		all[u] = newName(u)
		made = append(made, all[u])
	}
	return all, made, nil
}

// erasedOf are the users of a tenant who must have no name.
func erasedOf(ctx context.Context, tx Tx, tenant string, users []string) (map[string]bool, error) {
	if len(users) == 0 {
		return nil, nil
	}
	by := map[string]string{}
	for _, u := range users {
		sc, err := memory.NewScope(tenant, u)
		if err != nil {
			return nil, err
		}
		by[sc.Hash()] = u
	}
	found, err := tx.Erased(ctx, slices.Sorted(maps.Keys(by)))
	erased := map[string]bool{}
	for _, hash := range found {
		erased[by[hash]] = true
	}
	return erased, err
}
