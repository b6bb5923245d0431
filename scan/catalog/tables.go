package catalog

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"strings"
	"sync"
)

//go:embed data/*.tsv
var data embed.FS

// table reads an embedded table: its rows by the names of the columns.
func table(name string) []map[string]string {
	b, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(err) // the table is embedded: it is there or the build is broken
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	head := strings.Split(lines[0], "\t")
	rows := make([]map[string]string, 0, len(lines)-1)
	for _, l := range lines[1:] {
		row := make(map[string]string, len(head))
		for i, v := range strings.Split(l, "\t") {
			row[head[i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// Hash is that of all tables: facts taken with other tables are other facts.
var Hash = sync.OnceValue(func() string {
	h := sha256.New()
	for _, name := range []string{"cuda_libraries.tsv", "driver_files.tsv", "driver_packages.tsv", "frameworks.tsv", "image_kinds.tsv"} {
		b, err := data.ReadFile("data/" + name)
		if err != nil {
			panic(err)
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
})
