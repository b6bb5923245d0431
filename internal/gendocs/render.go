package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/rules"
)

var (
	//go:embed rule.md.tmpl
	ruleText string
	//go:embed index.md.tmpl
	indexText string
)

// page is a rule as the templates see it.
type page struct {
	facts.Rule
	What, Why string
	Reads     string
	Links     []rules.Reference
	// Language is that of the example.
	Language string
}

// render returns the pages by file name.
func render(e *rules.Engine) (map[string][]byte, error) {
	funcs := template.FuncMap{"sentence": sentence, "cell": cell}
	t, err := template.New("rule").Funcs(funcs).Parse(ruleText)
	if err != nil {
		return nil, err
	}
	index, err := t.New("index").Parse(indexText)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	var pages []page
	for _, r := range e.Rules() {
		p := newPage(r, e.References(r.ID))
		pages = append(pages, p)
		if out[r.ID+".md"], err = execute(t, p); err != nil {
			return nil, fmt.Errorf("page of %s: %w", r.ID, err)
		}
	}
	if out["README.md"], err = execute(index, pages); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return out, nil
}

func execute(t *template.Template, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

func newPage(r facts.Rule, links []rules.Reference) page {
	p := page{Rule: r, Links: links, Language: "dockerfile"}
	p.What, p.Why, _ = strings.Cut(r.Description, "\n\n")
	if strings.HasPrefix(r.Before, "$ ") || strings.HasPrefix(r.Before, "nvcc ") {
		p.Language = "console"
	}
	for i, k := range r.Needs {
		if i > 0 {
			p.Reads += ", "
		}
		p.Reads += "`input." + k + "`"
	}
	return p
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// cell keeps a text from breaking a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ")
}
