package main

import (
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
		return "", nowhere("%LocalAppData% is not set", "没有设置 %LocalAppData%")
	}
	if d := env("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return d, nil
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", nowhere("neither $XDG_STATE_HOME nor $HOME names a folder", "$XDG_STATE_HOME 和 $HOME 都没有指明文件夹")
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
		return "", nowhere(err.Error(), err.Error())
	}
	return filepath.Join(dir, "aftersales.db"), nil
}

func nowhere(en, zh string) error {
	return &mistake{"there is no place for the database: " + en + "; name a file with -db", "没有地方存放数据库：" + zh + "；请用 -db 指定文件"}
}

// beside is a file of the program that belongs to a database: next to its file, or in the usual place where it is a server.
func beside(db, what string) (string, error) {
	if isURL(db) {
		var err error
		if db, err = databaseFile(""); err != nil {
			return "", err
		}
	}
	ext := filepath.Ext(db)
	return db[:len(db)-len(ext)] + "-" + what + ext, nil
}
