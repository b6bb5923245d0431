package packages

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Bounds on dpkg's files.
const (
	maxLine    = 1 << 20   // bytes of one line of a record
	maxRecords = 200_000   // records in one status file
	maxStatus  = 256 << 20 // bytes of one status file
	maxDepends = 2_000     // names in one record's dependencies
	maxWord    = 512       // bytes of a name or version
	maxPath    = 4096      // bytes of a path
	maxListed  = 2_000_000 // paths in one list
	maxJSON    = 32 << 20  // bytes of one record in JSON
	maxCSV     = 64 << 20  // bytes of one RECORD
)

// ErrLimit says that a file is larger than what is read of it.
var ErrLimit = errors.New("limit reached")

// Dpkg locations, absolute.
const (
	DpkgStatus    = "/var/lib/dpkg/status"
	DpkgStatusDir = "/var/lib/dpkg/status.d/"
	DpkgInfoDir   = "/var/lib/dpkg/info/"
)

// ReadDpkg reads a status file (or one file of status.d) and calls keep for
// each record in it. Records without a name are passed over. The error is
// [ErrLimit] where the file is too large, or that of r; what came before it
// was kept.
func ReadDpkg(r io.Reader, keep func(Record)) error {
	lr := &io.LimitedReader{R: r, N: maxStatus}
	sc := bufio.NewScanner(lr)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	var rec Record
	field, n := "", 0
	flush := func() {
		if rec.Name != "" {
			if rec.State == "" {
				rec.State = Installed // status.d has no Status
			}
			keep(rec)
			n++
		}
		rec, field = Record{Manager: Dpkg}, ""
	}
	flush()
	for sc.Scan() {
		line := bytes.TrimRight(sc.Bytes(), "\r")
		if len(line) == 0 {
			flush()
			if n >= maxRecords {
				return fmt.Errorf("more than %d records: %w", maxRecords, ErrLimit)
			}
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			rec.more(field, line)
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			field = ""
			continue
		}
		field = strings.ToLower(string(name))
		rec.set(field, string(bytes.TrimSpace(value)))
	}
	flush()
	if err := sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("a line of more than %d bytes: %w", maxLine, ErrLimit)
		}
		return err
	}
	if lr.N == 0 {
		return fmt.Errorf("more than %d bytes: %w", maxStatus, ErrLimit)
	}
	return nil
}

// short bounds a name or version: what is longer is none.
func short(s string) string { return s[:min(len(s), maxWord)] }

func (r *Record) set(field, v string) {
	switch field {
	case "package":
		r.Name = short(v)
	case "version":
		r.Version = short(v)
	case "architecture":
		r.Arch = short(v)
	case "source":
		r.Source, _, _ = strings.Cut(short(v), " ")
	case "status":
		// want, flag, state: "install ok installed", "deinstall ok config-files".
		if w := strings.Fields(v); len(w) == 3 {
			r.State = short(w[2])
		} else {
			r.State = short(v)
		}
	case "depends", "pre-depends", "recommends":
		r.depend(v)
	case "description":
		r.describe(v)
	}
}

// more takes a continuation line.
func (r *Record) more(field string, line []byte) {
	switch field {
	case "depends", "pre-depends", "recommends":
		r.depend(string(line))
	case "description":
		r.describe(string(line))
	}
}

func (r *Record) depend(v string) {
	for _, d := range strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == '|' }) {
		d = strings.TrimSpace(d)
		if i := strings.IndexAny(d, " (:["); i >= 0 {
			d = d[:i]
		}
		if d = short(d); d != "" && len(r.Depends) < maxDepends {
			r.Depends = append(r.Depends, d)
		}
	}
}

func (r *Record) describe(v string) {
	l := strings.ToLower(v)
	if strings.Contains(l, "dummy package") || strings.Contains(l, "transitional package") ||
		strings.Contains(l, "dummy transitional") {
		r.Dummy = true
	}
}

// DpkgListOwner returns the package that a file below info, or a md5sums file
// below status.d, speaks for: libcuda1 of libcuda1:amd64.list.
func DpkgListOwner(p string) (string, bool) {
	dir, base := path.Split(p)
	var name string
	var ok bool
	switch dir {
	case DpkgInfoDir:
		name, ok = strings.CutSuffix(base, ".list")
	case DpkgStatusDir:
		name, ok = strings.CutSuffix(base, ".md5sums")
	}
	if !ok || name == "" {
		return "", false
	}
	name, _, _ = strings.Cut(name, ":")
	return name, true
}

// ReadDpkgList reads a list of paths: a .list file, or md5sums whose lines
// begin with a checksum. keep gets absolute paths. The error is [ErrLimit]
// where the file is too large, or that of r.
func ReadDpkgList(r io.Reader, keep func(string)) error {
	lr := &io.LimitedReader{R: r, N: maxStatus}
	sc := bufio.NewScanner(lr)
	sc.Buffer(make([]byte, 0, 4<<10), 64<<10)
	for n := 0; sc.Scan(); n++ {
		if n >= maxListed {
			return fmt.Errorf("more than %d paths: %w", maxListed, ErrLimit)
		}
		line := sc.Text()
		if line == "" {
			continue
		}
		if line[0] != '/' {
			// md5sums: 32 digits, blanks, a path without the leading slash.
			i := strings.IndexByte(line, ' ')
			if i != 32 {
				continue
			}
			line = "/" + strings.TrimLeft(line[i:], " ")
		}
		keep(path.Clean(line))
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line of more than 65536 bytes: %w", ErrLimit)
	}
	if sc.Err() == nil && lr.N == 0 {
		return fmt.Errorf("more than %d bytes: %w", maxStatus, ErrLimit)
	}
	return sc.Err()
}
