package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// stateFolder returns where programs keep what must outlive them, for this user: $XDG_STATE_HOME or ~/.local/state, the
// Application Support folder on a Mac, %LocalAppData% on Windows. It creates nothing.
func stateFolder(goos string, env func(string) string) (string, error) {
	if goos == "windows" {
		if d := env("LocalAppData"); d != "" {
			return d, nil
		}
		return "", errors.New("%LocalAppData% is not set")
	}
	if d := env("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return d, nil
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("neither $XDG_STATE_HOME nor $HOME names a folder")
	}
	if goos == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "state"), nil
}

// databaseFile returns where the threads are kept: the file named by the user, or the usual place, whose folder it
// creates for this user alone.
func databaseFile(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir, err := stateFolder(runtime.GOOS, os.Getenv)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "holdfast")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the folder for the database: %w", err)
	}
	return filepath.Join(dir, "aftersales.db"), nil
}

// shopFile is where the order service that belongs to a database keeps its own.
func shopFile(db string) string {
	ext := filepath.Ext(db)
	return db[:len(db)-len(ext)] + "-shop" + ext
}
