package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A server is what its settings say.
type server struct {
	version     int
	encoding    string
	isolation   string
	synchronous string
	fsync       string
	walDelay    int // ms
	replica     bool
}

const sqlServer = `select current_setting('server_version_num')::int, current_setting('server_encoding'),
	current_setting('default_transaction_isolation'), current_setting('synchronous_commit'), current_setting('fsync'),
	(select setting::int from pg_settings where name = 'wal_writer_delay'), pg_is_in_recovery()`

// look connects and reads the settings. No statement of this connection is prepared, so that any pooler passes it on.
func look(ctx context.Context, cfg *pgxpool.Config) (*pgx.Conn, server, error) {
	c := cfg.ConnConfig.Copy()
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	var v server
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, v, err
	}
	err = conn.QueryRow(ctx, sqlServer).Scan(&v.version, &v.encoding, &v.isolation, &v.synchronous, &v.fsync, &v.walDelay, &v.replica)
	switch {
	case err != nil:
	case v.version < 120000:
		err = fmt.Errorf("%w: server version %d, at least 12 is needed", ErrUnsuitable, v.version/10000)
	case v.encoding != "UTF8":
		err = fmt.Errorf("%w: its encoding is %s, UTF8 is needed", ErrUnsuitable, v.encoding)
	case v.replica:
		err = fmt.Errorf("%w: the server is a replica", checkpoint.ErrUnavailable)
	}
	if err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, v, err
	}
	return conn, v, nil
}

// A setting is made for the transaction of a write.
type setting struct{ name, value string }

// alive has the server notice within half a minute that the machine of a client is gone. The last packets of a write may
// be lost with it, and what that write has locked is locked until then.
var alive = map[string]string{
	"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "25000",
}

// configure sets up the pool, and says what the server gives.
func (s *Store) configure(cfg *pgxpool.Config, v server) error {
	commit := "" // as the server has it, which may wait for replicas too
	switch {
	case s.o.SynchronousCommit == Off:
		commit = "off"
	case v.synchronous == "off":
		commit = "on"
	}
	if s.o.Pooler {
		// A pooler refuses settings of a session, or hands them to whoever comes next.
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		cfg.ConnConfig.StatementCacheCapacity = 0
		if v.isolation != "read committed" {
			return fmt.Errorf("%w: default_transaction_isolation is %s; behind a pooler it must be read committed, by alter role or alter database", ErrUnsuitable, v.isolation)
		}
		if commit != "" {
			s.settings = append(s.settings, setting{"synchronous_commit", commit})
		}
	} else {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		// A compare that waits for a lock must look again afterwards, which only this level does.
		cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
		// Every statement of ours goes by a key or an index. Left to itself the server would plan some of them at each call.
		cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		// A plan that was made while a table was small is kept until the next analyze: it must not read the whole table.
		cfg.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
		cfg.ConnConfig.RuntimeParams["jit"] = "off" // it would take a plan without an index for a huge one
		for name, v := range alive {
			if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
				cfg.ConnConfig.RuntimeParams[name] = v
			}
		}
		if commit != "" {
			cfg.ConnConfig.RuntimeParams["synchronous_commit"] = commit
		}
	}
	if commit == "" {
		commit = v.synchronous
	}
	s.info = checkpoint.Info{Name: "postgres", Durability: "Postgres synchronous_commit=" + commit, Shared: true}
	switch {
	case v.fsync == "off":
		s.info.Durability, s.info.LossWindow = "Postgres fsync=off", checkpoint.Forever
	case commit == "off":
		s.info.LossWindow = 3 * time.Duration(v.walDelay) * time.Millisecond // as its manual says
	}
	return nil
}
