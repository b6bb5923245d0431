package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemas holds that what is written for every case image is as the
// published schemas say, which allow no property that they do not name.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"facts", "input"} {
		s := publishedSchema(t, doc)
		for _, name := range images(t) {
			t.Run(doc+" "+name, func(t *testing.T) {
				t.Parallel()
				w := readWant(t, name)
				_, out, _ := gpulint(t, append([]string{"image", "-f", doc, "--input", filepath.Join(imagesDir, name+".tar")}, w.Args...)...)
				d := json.NewDecoder(strings.NewReader(out))
				d.UseNumber()
				for n := 0; ; n++ {
					var v any
					err := d.Decode(&v)
					if errors.Is(err, io.EOF) && n > 0 {
						return
					}
					if err != nil {
						t.Fatalf("after %d documents: %v", n, err)
					}
					if err := s.Validate(v); err != nil {
						t.Errorf("%v", err)
					}
				}
			})
		}
	}
}

// publishedSchema is what gpulint schema prints.
func publishedSchema(t *testing.T, doc string) *jsonschema.Schema {
	t.Helper()
	status, out, errw := gpulint(t, "schema", doc)
	if status != 0 || errw != "" {
		t.Fatalf("status %d, %s", status, errw)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(out)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:"+doc, v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:" + doc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
