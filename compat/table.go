package compat

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed data/*.tsv data/VERSION
var data embed.FS

// row is one row of a table, by the names of its columns.
type row map[string]string

// reason makes a reason of a row.
func (r row) reason(table, key, text string) Reason {
	return Reason{Text: text, Source: table + ": " + key + " (" + r["source"] + ")", Confidence: r["confidence"]}
}

// parseTable reads tab-separated values with a heading.
func parseTable(text string) ([]row, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	head := strings.Split(lines[0], "\t")
	var rows []row
	for i, l := range lines[1:] {
		cells := strings.Split(l, "\t")
		if len(cells) != len(head) {
			return nil, fmt.Errorf("line %d has %d columns, the heading has %d", i+2, len(cells), len(head))
		}
		r := make(row, len(head))
		for j, c := range cells {
			r[head[j]] = c
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func mustTable(name string) []row {
	b, err := data.ReadFile("data/" + name + ".tsv")
	if err == nil {
		var rows []row
		if rows, err = parseTable(string(b)); err == nil {
			return rows
		}
	}
	panic(fmt.Errorf("embedded table %s: %w", name, err)) // a broken build, held by a test
}
