package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/rules"
)

// TestCurrent compares docs/rules with what the generator would write.
func TestCurrent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "docs", "rules")
	pages := mustRender(t)
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not current: run `go run ./internal/gendocs`", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(pages) {
		t.Errorf("%d files in docs/rules, %d pages", len(entries), len(pages))
	}
}

func TestRunRemovesStale(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stale := filepath.Join(dir, "GPU999.md")
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("the stale page is still there")
	}
	if _, err := os.Stat(filepath.Join(dir, "GPU101.md")); err != nil {
		t.Error(err)
	}
}

// TestPagesStandAlone looks for what a reader needs on each page.
func TestPagesStandAlone(t *testing.T) {
	t.Parallel()
	for name, text := range mustRender(t) {
		id := strings.TrimSuffix(name, ".md")
		if name == "README.md" {
			continue
		}
		for _, want := range []string{
			"# " + id + ": ", "## What it finds\n\nFinds ", "## Why it matters\n\n", "## How to fix it\n\n",
			"Before:\n\n```", "After:\n\n```", "--ignore " + id, "## References\n\n- [",
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if strings.Contains(string(text), "\n\n\n") || strings.Contains(string(text), "<no value>") {
			t.Errorf("%s has holes:\n%s", name, text)
		}
	}
}

func mustRender(t *testing.T) map[string][]byte {
	t.Helper()
	e, err := rules.New(rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := render(e)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
