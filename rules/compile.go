package rules

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// answer is the variable of a query that holds a rule's findings.
const answer = ast.Var("findings")

// program is a set of rules, compiled together.
type program struct {
	compiler *ast.Compiler
	// store is empty: policies have no data but the input.
	store   storage.Store
	rules   []*rule
	queries []ast.Body // beside rules
}

// needed returns the rules of which the input has a kind.
func (e *Engine) needed(kinds map[string]bool) []*rule {
	var list []*rule
	for _, r := range e.rules {
		for _, k := range r.Needs {
			if kinds[k] {
				list = append(list, r)
				break
			}
		}
	}
	return list
}

// compile returns the program of the rules; one that was compiled before is
// used again.
func (e *Engine) compile(list []*rule) (*program, error) {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	key := strings.Join(ids, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.compiled[key]; p != nil {
		return p, nil
	}
	p, err := newProgram(list, e.libs, e.libFiles)
	if err != nil {
		return nil, err
	}
	e.compiled[key] = p
	return p, nil
}

func newProgram(list []*rule, libs []*ast.Module, libFiles []string) (*program, error) {
	modules := make(map[string]*ast.Module, len(list)+len(libs))
	for i, m := range libs {
		modules[libFiles[i]] = m
	}
	for _, r := range list {
		modules[r.file] = r.module
	}
	c := ast.NewCompiler().WithCapabilities(capabilities()).WithDefaultRegoVersion(ast.RegoV1)
	c.Compile(modules)
	if c.Failed() {
		return nil, fmt.Errorf("compiling policies: %w", c.Errors)
	}
	p := &program{compiler: c, store: inmem.New(), rules: list}
	for _, r := range list {
		deny := ast.NewTerm(r.module.Package.Path.Append(ast.StringTerm("deny")))
		q, err := c.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), deny)))
		if err != nil {
			return nil, fmt.Errorf("compiling rule %s: %w", r.ID, err)
		}
		p.queries = append(p.queries, q)
	}
	return p, nil
}
