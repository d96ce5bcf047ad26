package audit

// MemoryBackend is that of NewMemory.
func MemoryBackend() Backend { return &inMemory{chains: map[string]*kept{}} }

// Waiting is how many accesses of a tenant wait for the next transaction.
func (l *Log) Waiting(tenant string) int {
	l.groups.mu.Lock()
	defer l.groups.mu.Unlock()
	if g := l.groups.next[tenant]; g != nil {
		return len(g.accesses)
	}
	return 0
}
