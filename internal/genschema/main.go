// Command genschema writes the JSON schemas of the contract from the types of
// package facts. Run it in the root of the repository: go run ./internal/genschema
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/invopop/jsonschema"

	"github.com/gpulint/gpulint/facts"
)

func main() {
	dir := flag.String("dir", filepath.Join("facts", "schema"), "where the schemas go")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	for _, s := range []struct {
		name, id, title string
		of              any
	}{
		{"facts", facts.SchemaFacts, "gpulint: what was found in an image", facts.Image{}},
		{"input", facts.SchemaInput, "gpulint: what rules read", facts.Input{}},
	} {
		data, err := schema(s.id, s.title, s.of)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".schema.json"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// schema makes the schema of a type, with the comments of its fields.
func schema(id, title string, of any) ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, FieldNameTag: "json", ExpandedStruct: true}
	if err := r.AddGoComments("github.com/gpulint/gpulint", "facts"); err != nil {
		return nil, err
	}
	s := r.Reflect(of)
	s.ID = jsonschema.ID("https://" + id + ".json")
	s.Title = title
	if p, ok := s.Properties.Get("schema"); ok {
		p.Const = id
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}
