// Command gendocs writes docs/rules from the METADATA of the built-in rules.
// Run it in the root of the repository: go run ./internal/gendocs
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpulint/gpulint/rules"
)

func main() {
	dir := flag.String("dir", filepath.Join("docs", "rules"), "where the pages go")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	e, err := rules.New(rules.Options{})
	if err != nil {
		return err
	}
	pages, err := render(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return removeStale(dir, pages)
}

// removeStale deletes the pages of rules that are no more.
func removeStale(dir string, pages map[string][]byte) error {
	list, err := filepath.Glob(filepath.Join(dir, "GPU*.md"))
	if err != nil {
		return err
	}
	for _, file := range list {
		if _, ok := pages[filepath.Base(file)]; ok {
			continue
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}
