// Package arch holds the borders between the packages of gpulint.
package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gpulint/gpulint"

// root is the root of the repository, seen from this package.
var root = filepath.Join("..", "..")

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	// Deps are all packages that this one depends on, directly or not.
	Deps []string
}

// in says whether a package is one of these, or below one.
func in(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool {
		return path == r || strings.HasPrefix(path, r+"/")
	})
}

// own are paths in the module.
func own(rooms ...string) []string {
	paths := make([]string, 0, len(rooms))
	for _, r := range rooms {
		paths = append(paths, module+"/"+r)
	}
	return paths
}

// border is what a room may depend on, tests apart.
type border struct {
	room string
	// of the project are the only rooms that it may know of.
	project []string
	// modules, where not nil, are the only ones of others beside the standard
	// library.
	modules []string
	// never are packages that it must not even link.
	never []string
}

// heavy are the libraries that would make every scan start slowly.
var heavy = []string{
	"github.com/open-policy-agent", "k8s.io", "sigs.k8s.io", "github.com/spf13/cobra",
}

// borders are those of the design. A room that is not here is free.
var borders = []border{
	{room: "facts", project: nil, modules: []string{}},
	{room: "scan", project: []string{"facts", "scan"}, never: heavy},
	{room: "scan/binary", project: []string{"scan/binary"}},
	{room: "compat", project: []string{"facts", "compat"}, modules: []string{"github.com/hashicorp/go-version"}},
	{room: "fleet", project: []string{"facts", "fleet"}, never: heavy},
	{room: "derive", project: []string{"facts", "compat", "derive"}, never: heavy},
	{room: "rules", project: []string{"facts", "rules"}},
	{room: "findings", project: []string{"facts", "findings"}, never: heavy},
	{room: "report", project: []string{"facts", "report"}, never: heavy},
}

// breaches are the dependencies of a package that its border forbids.
func (b border) breaches(p pkg, standard map[string]bool) []string {
	var out []string
	for _, d := range p.Deps {
		switch {
		case in(d, module):
			if !in(d, own(b.project...)...) {
				out = append(out, d)
			}
		case standard[d]:
		case in(d, b.never...), b.modules != nil && !in(d, b.modules...):
			out = append(out, d)
		}
	}
	return out
}

func TestBorders(t *testing.T) {
	t.Parallel()
	pkgs := list(t)
	standard := map[string]bool{"C": true}
	for _, p := range pkgs {
		standard[p.ImportPath] = p.Standard
	}
	for _, b := range borders {
		found := false
		for _, p := range pkgs {
			if !in(p.ImportPath, own(b.room)...) {
				continue
			}
			found = true
			for _, d := range b.breaches(p, standard) {
				t.Errorf("%s depends on %s, which %s must not know of", p.ImportPath, d, b.room)
			}
		}
		if !found {
			t.Errorf("there is no package %s: correct the borders", b.room)
		}
	}
}

func TestBreaches(t *testing.T) {
	t.Parallel()
	standard := map[string]bool{"io": true}
	for _, tt := range []struct {
		border border
		deps   []string
		want   []string
	}{
		{border{room: "facts", modules: []string{}}, []string{"io"}, nil},
		{border{room: "facts", modules: []string{}}, []string{"io", "example.org/x"}, []string{"example.org/x"}},
		{border{room: "facts"}, own("scan"), own("scan")},
		{border{room: "scan", project: []string{"facts"}}, own("facts", "factsheet"), own("factsheet")},
		{border{room: "scan", never: []string{"k8s.io"}}, []string{"k8s.io/api/core/v1", "k8s.io.example.org/x"}, []string{"k8s.io/api/core/v1"}},
	} {
		if got := tt.border.breaches(pkg{Deps: tt.deps}, standard); !slices.Equal(got, tt.want) {
			t.Errorf("%s with %v: breaches %v, want %v", tt.border.room, tt.deps, got, tt.want)
		}
	}
}

// list asks go list for all packages of the module and what they depend on.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// mayPrint says whether files of a directory may write to standard output and
// error: reports, commands, and the generators of the repository.
func mayPrint(dir string) bool {
	return in(dir, "report", "cmd") || strings.HasPrefix(dir, "internal/gen")
}

// TestOutput holds that what users see comes from few places: everywhere else
// a value or an error is returned.
func TestOutput(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || mayPrint(rel[:max(strings.LastIndex(rel, "/"), 0)]) {
			return nil
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, o := range outputs(f) {
			t.Errorf("%s: %s: only report/ and cmd/ write to standard output and error", fset.Position(o.pos), o.what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no file was read")
	}
}

type output struct {
	pos  token.Pos
	what string
}

// outputs finds in a file what writes to standard output or error.
func outputs(f *ast.File) []output {
	var out []output
	names := map[string]string{} // local name -> import path
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = path
		if path == "log" || (path == "fmt" || path == "os") && name == "." {
			out = append(out, output{i.Pos(), "import of " + path})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				out = append(out, output{n.Pos(), id.Name})
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch what := names[id.Name] + "." + n.Sel.Name; what {
			case "fmt.Print", "fmt.Printf", "fmt.Println", "os.Stdout", "os.Stderr":
				out = append(out, output{n.Pos(), what})
			}
		}
		return true
	})
	return out
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`package p; import "fmt"; func f() { fmt.Println() }`:                  "fmt.Println",
		`package p; import f "fmt"; func g() { f.Printf("") }`:                 "fmt.Printf",
		`package p; import . "fmt"`:                                            "import of fmt",
		`package p; import "log"`:                                              "import of log",
		`package p; import "os"; var w = os.Stderr`:                            "os.Stderr",
		`package p; func f() { println() }`:                                    "println",
		`package p; import "fmt"; func f() string { return fmt.Sprint() }`:     "",
		`package p; import "fmt"; func f(w W) { fmt.Fprintln(w); w.Stdout() }`: "",
		`package p; import "log/slog"; var l = slog.Default()`:                 "",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, o := range outputs(f) {
			got += o.what
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", src, got, want)
		}
	}
}
