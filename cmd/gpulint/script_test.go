package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/report/sarifcheck"
)

func TestMain(m *testing.M) {
	if _, script := os.LookupEnv("GPULINT_CACHE_DIR"); !script {
		if err := os.Setenv("GPULINT_NO_CACHE", "true"); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){
		"gpulint": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScript runs the scripts of testdata/script: the command line as a user
// sees it.
func TestScript(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(imagesDir)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("IMAGES", dir)
			e.Setenv("GPULINT_CACHE_DIR", filepath.Join(e.WorkDir, "cache"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":     gpulintStatus,
			"sarif":   sarifFile,
			"isjson":  isJSON,
			"cut":     cutFile,
			"badcopy": badCopy,
		},
	})
}

// gpulintStatus runs gpulint and holds its exit status: run STATUS ARGS...
func gpulintStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: run STATUS ARGS...")
	}
	err := ts.Exec("gpulint", args[1:]...)
	status := "0"
	if err != nil {
		status = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if status != args[0] {
		ts.Fatalf("exit status %s, want %s", status, args[0])
	}
}

// sarifFile holds that a file is valid SARIF, and whether the run succeeded:
// sarif FILE ok|failed
func sarifFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sarif FILE ok|failed")
	}
	data := ts.ReadFile(args[0])
	for _, problem := range sarifcheck.Check([]byte(data)) {
		ts.Fatalf("%s: %s", args[0], problem)
	}
	failed := strings.Contains(data, `"executionSuccessful": false`)
	if failed != (args[1] == "failed") {
		ts.Fatalf("%s: a failed run: %t", args[0], failed)
	}
}

// isJSON holds that a file is one JSON document.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || !json.Valid([]byte(ts.ReadFile(args[0]))) {
		ts.Fatalf("%v is no JSON", args)
	}
}

// cutFile shortens a file: cut FROM TO BYTES
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: cut FROM TO BYTES")
	}
	data := ts.ReadFile(args[0])
	var n int
	if _, err := fmt.Sscan(args[2], &n); err != nil || n > len(data) {
		ts.Fatalf("cut: %s of %d bytes", args[2], len(data))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:n]), 0o644))
}

// badCopy makes a broken image: badcopy HOW TO
func badCopy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: badcopy HOW TO")
	}
	img := testimage.Image{Ref: "cases/broken:1", Compression: testimage.Gzip, Layers: []testimage.Layer{
		{CreatedBy: "COPY a / # buildkit", Files: []testimage.File{testimage.Text("a", "a")}},
		{CreatedBy: "COPY b / # buildkit", Files: []testimage.File{testimage.Text("b", strings.Repeat("b", 2000))}},
	}}
	b := img.Build()
	blob := func(digest string) string { return "blobs/sha256/" + strings.TrimPrefix(digest, "sha256:") }
	files := testimage.Layout(b)
	switch args[0] {
	case "digest":
		for i := range files {
			if files[i].Name == blob(b.Layers[1].Digest) {
				// The time in gzip's header: the content stays whole.
				files[i].Data = slices.Clone(files[i].Data)
				files[i].Data[4]++
			}
		}
	case "config":
		files = testimage.Without(files, blob(b.Config.Digest))
	case "layer":
		files = testimage.Without(files, blob(b.Layers[1].Digest))
	case "mediatype":
		m := testimage.NewBlob(testimage.TypeManifest, []byte(strings.Replace(string(b.Manifest.Data),
			testimage.TypeLayer+"+gzip", "application/vnd.example.model.v1", 1)))
		files = testimage.LayoutOf(testimage.Index(m), append(b.Layers, b.Config, m)...)
	default:
		ts.Fatalf("badcopy: %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), testimage.Tar(files...), 0o644))
}
