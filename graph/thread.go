package graph

import "github.com/holdfast-go/holdfast/checkpoint"

// A Thread names one durable conversation or task: everything that was written, asked and answered under this name.
type Thread struct {
	Tenant string `json:"tenant"` // required where a program serves several customers; ID fills it in for the others
	ID     string `json:"id"`
	Branch string `json:"branch,omitzero"` // a named head of the thread; empty: the active one
}

// SingleTenant is the tenant of threads made by ID.
const SingleTenant = "default"

// ID names a thread of a program that serves one tenant.
func ID(id string) Thread { return Thread{Tenant: SingleTenant, ID: id} }

func (t Thread) key() checkpoint.Key { return checkpoint.Key{Tenant: t.Tenant, Thread: t.ID} }

// String returns the thread as tenant/id.
func (t Thread) String() string { return t.Tenant + "/" + t.ID }
