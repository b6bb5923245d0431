package packages

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ApkInstalled is where apk keeps its records: a record a package, with its
// files. Since 3.0 it may stand below /usr.
var ApkInstalled = []string{"/lib/apk/db/installed", "/usr/lib/apk/db/installed"}

// ReadApk reads apk's database. keep gets each record with those of its files,
// as absolute paths, that want accepts. The error is [ErrLimit] where the file
// is too large, or that of r; what came before it was kept.
func ReadApk(r io.Reader, want func(path string) bool, keep func(rec Record, files []string)) error {
	lr := &io.LimitedReader{R: r, N: maxStatus}
	sc := bufio.NewScanner(lr)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	rec, dir, n := Record{Manager: Apk}, "", 0
	var files []string
	flush := func() {
		if rec.Name != "" {
			rec.State = Installed
			keep(rec, files)
			n++
		}
		rec, dir, files = Record{Manager: Apk}, "", nil
	}
	for sc.Scan() {
		line := sc.Text()
		if line == "" {
			flush()
			if n >= maxRecords {
				return fmt.Errorf("more than %d records: %w", maxRecords, ErrLimit)
			}
			continue
		}
		field, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch field {
		case "P":
			rec.Name = short(value)
		case "V":
			rec.Version = short(value)
		case "A":
			rec.Arch = short(value)
		case "o":
			rec.Source = short(value)
		case "D":
			rec.apkDepends(value)
		case "F":
			dir = value
		case "R":
			if p := absolute(dir, value); len(p) <= maxPath && want(p) {
				files = append(files, p)
			}
		}
	}
	flush()
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line of more than %d bytes: %w", maxLine, ErrLimit)
	case err != nil:
		return err
	case lr.N == 0:
		return fmt.Errorf("more than %d bytes: %w", maxStatus, ErrLimit)
	}
	return nil
}

// apkDepends takes the names out of a list such as "musl>=1.2 so:libc.so !x".
func (r *Record) apkDepends(v string) {
	for _, d := range strings.Fields(v) {
		if i := strings.IndexAny(d, "<>=~@"); i >= 0 {
			d = d[:i]
		}
		if d == "" || d[0] == '!' || strings.Contains(d, ":") || len(r.Depends) >= maxDepends {
			continue
		}
		r.Depends = append(r.Depends, short(d))
	}
}
