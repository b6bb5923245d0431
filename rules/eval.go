package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/gpulint/gpulint/facts"
)

// Eval runs the rules whose kinds the input has and returns their findings,
// sorted by rule, key and message. Fingerprints are not set yet: they belong to
// the steps after the rules.
func (e *Engine) Eval(ctx context.Context, in *facts.Input) ([]facts.Finding, error) {
	doc, err := newDocument(in, e.maxInput)
	if err != nil {
		return nil, fmt.Errorf("input of rules for %s: %w", in.Subject.ID, err)
	}
	list := e.needed(doc.kinds)
	if len(list) == 0 {
		return nil, nil
	}
	p, err := e.compile(list)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, e.timeout, fmt.Errorf("no answer within %s: %w", e.timeout, context.DeadlineExceeded))
	defer stop()
	var out []facts.Finding
	for i, r := range p.rules {
		found, err := p.eval(ctx, i, doc)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b facts.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Message, b.Message))
	})
	return out, nil
}

// eval runs one rule.
func (p *program) eval(ctx context.Context, i int, doc *document) ([]facts.Finding, error) {
	r := p.rules[i]
	value, err := p.query(ctx, p.queries[i], doc.value)
	if err != nil {
		return nil, locate(r, err)
	}
	// A set iterates in the order of its values, so the result is the same in
	// every run.
	set, ok := value.(ast.Set)
	if !ok {
		return nil, fmt.Errorf("%s:%d: deny is no set", r.file, r.denyLine)
	}
	var out []facts.Finding
	for _, t := range set.Slice() {
		f, err := r.finding(t.Value, doc)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", r.file, r.denyLine, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// query evaluates a compiled query. OPA's rego package would do as well, but
// brings a WebAssembly compiler, bundles and protobuf into the program.
func (p *program) query(ctx context.Context, body ast.Body, input *ast.Term) (ast.Value, error) {
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()
	var value ast.Value
	err := storage.Txn(ctx, p.store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		rs, err := topdown.NewQuery(body).
			WithCompiler(p.compiler).
			WithStore(p.store).
			WithTransaction(txn).
			WithCancel(cancel).
			WithInput(input).
			WithStrictBuiltinErrors(true).
			Run(ctx)
		if err == nil && len(rs) > 0 {
			value = rs[0][answer].Value
		}
		return err
	})
	if ctx.Err() != nil {
		// What OPA says of it ("caller cancelled query execution") does not
		// tell a deadline from a signal.
		return nil, context.Cause(ctx)
	}
	return value, err
}

// locate says in which file and line a rule failed.
func locate(r *rule, err error) error {
	var te *topdown.Error
	if !errors.As(err, &te) {
		return fmt.Errorf("%s:%d: %w", r.file, r.denyLine, err)
	}
	if te.Location == nil {
		return fmt.Errorf("%s:%d: %s: %s", r.file, r.denyLine, te.Code, te.Message)
	}
	return fmt.Errorf("%s:%d: %s: %s", cmp.Or(te.Location.File, r.file), te.Location.Row, te.Code, te.Message)
}
