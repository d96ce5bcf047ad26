package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line of input in bytes.
const maxLine = 4096

// A reader hands out the lines of an input, one for each call, and can be left while it waits for one.
type reader struct{ lines chan string }

// newReader reads in from now on. The goroutine it starts ends with the input or with ctx, but not while in blocks.
func newReader(ctx context.Context, in io.Reader) *reader {
	r := &reader{make(chan string)}
	go func() {
		defer close(r.lines)
		b := bufio.NewReader(in)
		for {
			line, err := readLine(b)
			if err != nil && line == "" {
				return
			}
			select {
			case r.lines <- line:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return r
}

// readLine reads one line. What is behind maxLine bytes is read and dropped, except for one byte that tells.
func readLine(b *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(string(line), "\r\n"), err
		}
	}
}

// next returns the next line without the spaces around it. It returns io.EOF at the end, a *mistake for a line that cannot
// be read, and the cause of ctx when that ends first.
func (r *reader) next(ctx context.Context) (string, error) {
	select {
	case line, ok := <-r.lines:
		switch {
		case !ok:
			return "", io.EOF
		case len(line) > maxLine:
			return "", &mistake{"That line is too long. Please use fewer words.", "这一行太长了，请写短一点。"}
		case !utf8.ValidString(line):
			return "", &mistake{"That line is not UTF-8 text. Please type it again.", "这一行不是 UTF-8 文本，请重新输入。"}
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// yes reads an answer to a yes or no question in either language.
func yes(line string) (answer, ok bool) {
	switch strings.ToLower(strings.Trim(line, " .。!！")) {
	case "y", "yes", "ok", "是", "是的", "好", "好的", "同意", "批准":
		return true, true
	case "n", "no", "否", "不", "不是", "不行", "不同意", "拒绝":
		return false, true
	}
	return false, false
}
