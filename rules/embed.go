package rules

import (
	"embed"
	"io/fs"
)

// The pattern leaves the tests out of the program.
//
//go:embed GPU???.rego lib.rego
var builtinFS embed.FS

// source is one Rego file, by the name that messages show.
type source struct {
	name string
	text string
}

// builtin returns the embedded policies in the order of their names.
func builtin() ([]source, error) {
	entries, err := fs.ReadDir(builtinFS, ".")
	if err != nil {
		return nil, err
	}
	list := make([]source, 0, len(entries))
	for _, e := range entries {
		b, err := builtinFS.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, source{name: "rules/" + e.Name(), text: string(b)})
	}
	return list, nil
}
