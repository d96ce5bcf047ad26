package nodes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/working"
)

// A Kit has the bodies of the ready nodes for one Config. It holds nothing of any run and is safe for concurrent use.
type Kit struct {
	c         Config
	roles     map[string]Role
	compactor *compact.Compactor // after the reply: with the Summarizer, if there is one
	trimmer   *compact.Compactor // between two steps: without
	compactAt float64            // tokens of history and summary from which it is worth a superstep
}

// New checks a Config and returns its Kit, or a *ConfigError that lists all that is wrong.
func New(c Config) (*Kit, error) {
	c = c.withDefaults()
	k := &Kit{c: c, roles: map[string]Role{}}
	faults := c.faults()
	for i, r := range c.Roles {
		r, fs := k.complete(r)
		faults = append(faults, fs...)
		k.c.Roles[i] = r
		k.roles[r.Name] = r
	}
	if len(faults) > 0 {
		return nil, &ConfigError{faults}
	}
	k.compactAt = float64(c.Compact.Budget) * orFloat(c.Compact.Trigger, 0.8)
	quick := c.Compact
	quick.Summarizer = nil
	var err error
	if k.compactor, err = compact.New(c.Counter, c.Session, c.Compact); err == nil {
		k.trimmer, err = compact.New(c.Counter, c.Session, quick)
	}
	if err != nil {
		return nil, &ConfigError{[]string{"Compact: " + err.Error()}}
	}
	return k, nil
}

func (c Config) withDefaults() Config {
	c.Roles = slices.Clone(c.Roles)
	if c.Profile.Name == "" && c.Profile.MaxInput == 0 {
		c.Profile = working.Default()
	}
	if c.Counter == nil {
		c.Counter = working.Cached(working.Estimate, 4096)
	}
	if c.Compact.Budget == 0 {
		c.Compact.Budget = max(c.Profile.Caps.Recent, 1000)
	}
	c.Attempts = orInt(c.Attempts, 3)
	c.MaxSteps = orInt(c.MaxSteps, 25)
	c.MaxWait = orTime(c.MaxWait, 30*time.Second)
	c.AnswerTime = orTime(c.AnswerTime, 5*time.Minute)
	c.RecallTime = orTime(c.RecallTime, 3*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func orInt(n, or int) int {
	if n == 0 {
		return or
	}
	return n
}

func orFloat(f, or float64) float64 {
	if f == 0 {
		return or
	}
	return f
}

func orTime(d, or time.Duration) time.Duration {
	if d == 0 {
		return or
	}
	return d
}

// faults are those of a config apart from its roles.
func (c Config) faults() (out []string) {
	if c.Session == nil {
		out = append(out, "Session: a conversation needs a store; session.NewMemory is one for tests")
	}
	if len(c.Roles) == 0 {
		out = append(out, "Roles: name at least one")
	}
	if c.LongTerm != nil || c.Knowledge != nil {
		if err := c.Agent.Valid(); err != nil {
			out = append(out, "Agent: "+err.Error())
		}
	}
	if err := c.Profile.Check(); err != nil {
		out = append(out, "Profile: "+err.Error())
	}
	if c.Attempts < 0 || c.MaxSteps < 0 || c.MaxWait < 0 || c.AnswerTime < 0 || c.RecallTime < 0 {
		out = append(out, "Attempts, MaxSteps, MaxWait, AnswerTime, RecallTime: not below zero")
	}
	seen := map[string]bool{}
	for _, r := range c.Roles {
		if seen[r.Name] {
			out = append(out, fmt.Sprintf("Roles: %q is there twice", r.Name))
		}
		seen[r.Name] = true
	}
	for _, r := range c.Roles {
		for _, to := range r.HandOff {
			if !seen[to] || to == r.Name {
				out = append(out, fmt.Sprintf("role %q: HandOff: there is no other role %q", r.Name, to))
			}
		}
	}
	return out
}

// complete adds the tools that every role has, and says what is wrong with it.
func (k *Kit) complete(r Role) (Role, []string) {
	r.Tools = slices.Clone(r.Tools)
	for _, to := range r.HandOff {
		r.Tools = append(r.Tools, k.handOff(to))
	}
	r.Tools = append(r.Tools, k.fetchTool())
	var faults []string
	note := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("role %q: ", r.Name)+fmt.Sprintf(format, args...))
	}
	if r.Name == "" {
		note("it has no name")
	}
	if len(r.Models) == 0 || slices.Contains(r.Models, nil) {
		note("Models: name at least one, and no nil")
	}
	seen := map[string]bool{}
	for _, t := range r.Tools {
		if t.err != nil {
			note("tool %q: %v", t.spec.Name, t.err)
		}
		if seen[t.spec.Name] {
			note("tool %q is there twice", t.spec.Name)
		}
		seen[t.spec.Name] = true
	}
	return r, faults
}

// role is who answers now, changed by Adapt.
func (k *Kit) role(ctx context.Context, t *Turn) (Role, error) {
	r, ok := k.roles[t.Role.Get()]
	if !ok {
		r = k.c.Roles[0]
	}
	if k.c.Adapt == nil {
		return r, nil
	}
	r.System, r.Tools, r.Models = slices.Clone(r.System), slices.Clone(r.Tools), slices.Clone(r.Models)
	if err := k.c.Adapt(ctx, t, &r); err != nil {
		return r, fmt.Errorf("nodes: Adapt: %w", err)
	}
	if len(r.Models) == 0 {
		return r, fmt.Errorf("nodes: Adapt left role %q without a model", r.Name)
	}
	return r, nil
}

// tool returns a tool of the role by its name.
func (r Role) tool(name string) (Tool, bool) {
	i := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.spec.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return r.Tools[i], true
}

// as says for the audit of the boxes on whose behalf they are called: that of Config.Agent, or else of the role that answers.
func (k *Kit) as(ctx context.Context, t *Turn) context.Context {
	return memory.As(ctx, cmp.Or(k.c.Agent.Name(), t.Role.Get(), k.c.Roles[0].Name))
}
