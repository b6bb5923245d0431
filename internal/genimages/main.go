// Command genimages writes testdata/images: the images on which gpulint is
// tried, each with the findings that are expected of it. Run it in the root of
// the repository: go run ./internal/genimages
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpulint/gpulint/internal/testimage"
)

// A testCase is one image and what must be said of it.
type testCase struct {
	name string
	// archive is the image as a file.
	archive []byte
	want    want
}

// want is what stands in NAME.want.json.
type want struct {
	// About says what the image is a case of.
	About string `json:"about"`
	// Args are arguments of gpulint image beside the input.
	Args   []string `json:"args,omitempty"`
	Status int      `json:"status"`
	// Findings are rules and levels, each followed by its evidence: path,
	// layer and package.
	Findings []string `json:"findings"`
	// Verdicts are target, runtime mode, level and error code.
	Verdicts []string `json:"verdicts,omitempty"`
}

func main() {
	dir := flag.String("dir", filepath.Join("testdata", "images"), "where the images go")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "genimages:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, c := range slices.Concat(driverCases(), exemptCases(), layerCases(), formatCases(), cudaCases()) {
		if files[c.name+".tar"] != nil {
			return fmt.Errorf("two cases are named %s", c.name)
		}
		if c.want.Findings == nil {
			c.want.Findings = []string{}
		}
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(c.want); err != nil {
			return err
		}
		files[c.name+".tar"], files[c.name+".want.json"] = c.archive, buf.Bytes()
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return removeStale(dir, files)
}

// removeStale deletes what no case has written.
func removeStale(dir string, files map[string][]byte) error {
	for _, pattern := range []string{"*.tar", "*.want.json"} {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, file := range list {
			if files[filepath.Base(file)] != nil {
				continue
			}
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// oci is an image as an OCI archive with gzip layers, as most are built.
func oci(name string, img testimage.Image) []byte {
	img.Ref = "registry.example.com/cases/" + name + ":1"
	if img.Compression == "" {
		img.Compression = testimage.Gzip
	}
	return img.Build().OCIArchive()
}
