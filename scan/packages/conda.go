package packages

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// CondaMeta tells a record of conda by its path, PREFIX/conda-meta/*.json, and
// the prefix that its paths start from.
func CondaMeta(p string) (prefix string, ok bool) {
	dir, base := path.Split(p)
	dir = path.Clean(dir)
	if path.Base(dir) != "conda-meta" || !strings.HasSuffix(base, ".json") {
		return "", false
	}
	return path.Dir(dir), true
}

// ReadConda reads a record of conda. keep gets absolute paths. Without an error
// the record has a name; one that is none of conda's has not. The error is
// [ErrLimit] where the file is too large, or that of r.
func ReadConda(r io.Reader, prefix string, keep func(path string)) (Record, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return Record{}, err
	}
	if len(data) > maxJSON {
		return Record{}, fmt.Errorf("more than %d bytes: %w", maxJSON, ErrLimit)
	}
	var doc struct {
		Name    string   `json:"name"`
		Version string   `json:"version"`
		Subdir  string   `json:"subdir"`
		Depends []string `json:"depends"`
		Files   []string `json:"files"`
	}
	if json.Unmarshal(data, &doc) != nil || doc.Name == "" {
		return Record{}, nil
	}
	rec := Record{Manager: Conda, Name: short(doc.Name), Version: short(doc.Version), Arch: short(doc.Subdir), State: Installed}
	for _, d := range doc.Depends {
		if name, _, _ := strings.Cut(d, " "); name != "" && len(rec.Depends) < maxDepends {
			rec.Depends = append(rec.Depends, short(name))
		}
	}
	for _, f := range doc.Files {
		if f != "" && len(f) <= maxPath {
			keep(absolute(prefix, f))
		}
	}
	return rec, nil
}
