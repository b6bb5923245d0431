package packages

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// PipRecord tells a distribution's RECORD by its path,
// …/NAME-VERSION.dist-info/RECORD, and the directory that its paths start from.
func PipRecord(p string) (rec Record, dir string, ok bool) {
	at, base := path.Split(p)
	name, ok := strings.CutSuffix(path.Base(at), ".dist-info")
	if base != "RECORD" || !ok {
		return Record{}, "", false
	}
	name, version, ok := strings.Cut(name, "-")
	if !ok || name == "" || version == "" {
		return Record{}, "", false
	}
	return Record{
		Manager: Pip, Name: pipName(short(name)), Version: short(version), State: Installed,
	}, path.Dir(path.Clean(at)), true
}

// pipName is a name as pip install takes it: nvidia_cuda_runtime_cu12 of a
// directory is nvidia-cuda-runtime-cu12.
func pipName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

// ReadPipRecord reads a RECORD: path, hash, size. keep gets absolute paths. A
// line that is no CSV is passed over. The error is [ErrLimit] where the file is
// too large, or that of r.
func ReadPipRecord(r io.Reader, dir string, keep func(path string)) error {
	lr := &io.LimitedReader{R: r, N: maxCSV}
	c := csv.NewReader(lr)
	c.FieldsPerRecord, c.LazyQuotes, c.ReuseRecord = -1, true, true
	for n := 0; ; n++ {
		fields, err := c.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			if lr.N == 0 {
				return fmt.Errorf("more than %d bytes: %w", maxCSV, ErrLimit)
			}
			return nil
		case errors.As(err, &bad):
			continue
		case err != nil:
			return err
		case n >= maxListed:
			return fmt.Errorf("more than %d files: %w", maxListed, ErrLimit)
		}
		p := fields[0]
		if p == "" || len(p) > maxPath {
			continue
		}
		if !strings.HasPrefix(p, "/") {
			p = absolute(dir, p)
		}
		keep(path.Clean(p))
	}
}
