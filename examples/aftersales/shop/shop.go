package shop

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed schema.sql
var schema string

// A Shop is the order service: an [http.Handler] over one SQLite file. It is safe for concurrent use, and two processes
// may open one file.
type Shop struct {
	db     *sql.DB
	mux    *http.ServeMux
	faults faults
	now    func() time.Time
	server *http.Server
	served chan struct{} // closed when the server's goroutine has returned
	stop   context.CancelFunc
}

// Open opens the shop kept in the file at path. A new file is filled with customers and orders and can be read by its
// owner only. Now tells the time; nil means time.Now.
func Open(path string, now func() time.Time) (*Shop, error) {
	if now == nil {
		now = time.Now
	}
	db, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("shop: %s: %w", path, err)
	}
	s := &Shop{db: db, now: now}
	s.mux = s.routes()
	err = s.write(context.Background(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(schema); err != nil {
			return err
		}
		return seed(context.Background(), tx, now())
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shop: %s: %w", path, err), db.Close())
	}
	return s, nil
}

func openFile(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	slash := filepath.ToSlash(path)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // C:/shop.db
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: slash, RawQuery: url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}.Encode()}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // one writer at a time is all that SQLite has, and the example needs no more
	return db, nil
}

// Start listens on addr, such as "127.0.0.1:0", and returns the address of the service as a URL. It is called at most
// once; Close stops what it started.
func (s *Shop) Start(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("shop: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop, s.served = cancel, make(chan struct{})
	s.server = &http.Server{
		Handler:           s.mux,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
	}
	go func() {
		defer close(s.served)
		s.server.Serve(l) // always ends with ErrServerClosed
	}()
	return "http://" + l.Addr().String(), nil
}

// ServeHTTP answers one request.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends what is held or delayed, waits for the requests that are being answered, and closes the file.
func (s *Shop) Close() error {
	var err error
	if s.server != nil {
		s.stop()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err = s.server.Shutdown(ctx); err != nil {
			err = errors.Join(err, s.server.Close())
		}
		<-s.served
	}
	return errors.Join(err, s.db.Close())
}

// write runs f in one transaction that no other writer shares.
func (s *Shop) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback() // err says more
		return err
	}
	return tx.Commit()
}
