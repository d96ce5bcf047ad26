package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// A file is an open database: what all stores of one path share.
type file struct {
	path    string
	o       Options // of the store that opened it
	users   int
	writer  *writer
	readers *readers
	wal     *checkpointer
}

// shared are the open files of the process.
var shared registry

// A registry makes sure that a process has one writer for each file.
type registry struct {
	mu    sync.Mutex
	files map[string]*file
}

func (g *registry) open(path string, o Options) (*file, error) {
	path, err := canonical(path)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.files[path]; f != nil {
		if f.o.Synchronous != o.Synchronous || f.o.MaxBytes != o.MaxBytes {
			return nil, ErrMismatch
		}
		f.users++
		return f, nil
	}
	f, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	if g.files == nil {
		g.files = map[string]*file{}
	}
	g.files[path] = f
	return f, nil
}

func (g *registry) close(f *file) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.users--; f.users > 0 {
		return nil
	}
	delete(g.files, f.path)
	return f.close()
}

// canonical is the one name of a file, so that two ways to write it are not two writers.
func canonical(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return "", fmt.Errorf("%q is not the path of a file", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// dsn names a file so that no character of its path means anything.
func dsn(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/...
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

func openFile(path string, o Options) (_ *file, err error) {
	// SQLite gives the files beside it the mode of this one.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.BusyTimeout)
	defer cancel()
	out := &file{path: path, o: o, users: 1}
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	w, err := openWriterConn(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if out.wal, err = newCheckpointer(path, o); err != nil {
		w.close()
		return nil, err
	}
	out.writer = newWriter(w, out.wal)
	out.readers = newReaders(path, o)
	return out, nil
}

// close stops the goroutines before their connections; the writer's connection goes last and folds the WAL into the file.
func (f *file) close() error {
	var errs []error
	if f.readers != nil {
		errs = append(errs, f.readers.close())
	}
	if f.wal != nil {
		errs = append(errs, f.wal.close())
	}
	if f.writer != nil {
		errs = append(errs, f.writer.close())
	}
	return errors.Join(errs...)
}
