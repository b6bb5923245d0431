package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

// Defaults of [Options].
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxInput = 1 << 20
)

// Options set the limits of an [Engine]; the zero value means the defaults.
type Options struct {
	// Timeout is the deadline of one [Engine.Eval].
	Timeout time.Duration
	// MaxInput is the largest input in bytes of JSON.
	MaxInput int
}

// Engine runs the rules. It is safe for concurrent use.
type Engine struct {
	timeout  time.Duration
	maxInput int
	rules    []*rule
	libs     []*ast.Module
	libFiles []string

	mu       sync.Mutex
	compiled map[string]*program
}

// New reads the built-in rules. They are parsed here and compiled by the first
// [Engine.Eval] that needs them: most images need a few rules only.
func New(o Options) (*Engine, error) {
	list, err := builtin()
	if err != nil {
		return nil, fmt.Errorf("reading the built-in rules: %w", err)
	}
	return newEngine(list, o)
}

func newEngine(list []source, o Options) (*Engine, error) {
	e := &Engine{
		timeout:  cmp.Or(o.Timeout, DefaultTimeout),
		maxInput: cmp.Or(o.MaxInput, DefaultMaxInput),
		compiled: map[string]*program{},
	}
	modules, err := parseAll(list)
	if err != nil {
		return nil, err
	}
	for i, m := range modules {
		if id, err := packageID(m.Package); err == nil && id == libPackage {
			e.libs = append(e.libs, m)
			e.libFiles = append(e.libFiles, list[i].name)
			continue
		}
		r, err := newRule(list[i].name, m)
		if err != nil {
			return nil, err
		}
		e.rules = append(e.rules, r)
	}
	slices.SortFunc(e.rules, func(a, b *rule) int { return cmp.Compare(a.ID, b.ID) })
	return e, e.checkUnique()
}

// parseAll parses the sources side by side: reading METADATA is most of the
// time that a small scan spends in policies.
func parseAll(list []source) ([]*ast.Module, error) {
	modules, errs := make([]*ast.Module, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, s := range list {
		wg.Go(func() {
			modules[i], errs[i] = ast.ParseModuleWithOpts(s.name, s.text, ast.ParserOptions{
				ProcessAnnotation: true,
				RegoVersion:       ast.RegoV1,
				Capabilities:      capabilities(),
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("parsing policy: %w", err)
		}
		if modules[i] == nil {
			return nil, fmt.Errorf("parsing policy: %s is empty", list[i].name)
		}
	}
	return modules, nil
}

func (e *Engine) checkUnique() error {
	seen := map[string]string{}
	for _, r := range e.rules {
		for _, s := range []string{r.ID, r.Name} {
			if other, ok := seen[s]; ok {
				return fmt.Errorf("%s: %s is taken by %s", r.file, s, other)
			}
			seen[s] = r.file
		}
	}
	return nil
}

// Rules describes the rules, sorted by ID.
func (e *Engine) Rules() []facts.Rule {
	list := make([]facts.Rule, len(e.rules))
	for i, r := range e.rules {
		list[i] = r.Rule
	}
	return list
}

// References returns the pages that the rule refers to, with what they tell;
// nil for an unknown rule.
func (e *Engine) References(id string) []Reference {
	for _, r := range e.rules {
		if r.ID == id {
			return slices.Clone(r.references)
		}
	}
	return nil
}
