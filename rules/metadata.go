package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

// docsURL is where the pages of the built-in rules are.
const docsURL = "https://github.com/gpulint/gpulint/blob/main/docs/rules/"

// libPackage holds helpers of the built-in rules; it is no rule.
const libPackage = "lib"

var (
	idPattern   = regexp.MustCompile(`^[A-Z]{1,16}[0-9]{1,6}$`)
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
)

// rule is a parsed policy.
type rule struct {
	facts.Rule
	module     *ast.Module
	file       string
	references []Reference
	// denyLine is the line of the first deny, for messages about its values.
	denyLine int
}

// Reference is a page that a rule refers to.
type Reference struct {
	URL string
	// Text says what the page tells.
	Text string
}

// newRule reads the METADATA of a module and checks its shape.
func newRule(file string, m *ast.Module) (*rule, error) {
	r := &rule{module: m, file: file}
	id, err := packageID(m.Package)
	if err != nil {
		return nil, r.errorf(m.Package.Loc(), "%v", err)
	}
	r.ID = id
	if err := r.findDeny(); err != nil {
		return nil, err
	}
	for _, a := range m.Annotations {
		if a.Scope == "package" {
			return r, r.readAnnotations(a)
		}
	}
	return nil, r.errorf(m.Package.Loc(), "no METADATA with `scope: package` before the package")
}

// packageID returns the last part of data.gpulint.ID.
func packageID(p *ast.Package) (string, error) {
	const want = "want `package gpulint.ID` with an ID such as GPU101"
	if len(p.Path) != 3 || !p.Path[1].Equal(ast.StringTerm("gpulint")) {
		return "", fmt.Errorf("the package is %s: %s", strings.TrimPrefix(p.Path.String(), "data."), want)
	}
	s, ok := p.Path[2].Value.(ast.String)
	if !ok || !idPattern.MatchString(string(s)) && string(s) != libPackage {
		return "", fmt.Errorf("the package is %s: %s", strings.TrimPrefix(p.Path.String(), "data."), want)
	}
	return string(s), nil
}

func (r *rule) findDeny() error {
	for _, d := range r.module.Rules {
		if d.Head.Ref().String() != "deny" {
			continue
		}
		if d.Head.RuleKind() != ast.MultiValue {
			return r.errorf(d.Loc(), "deny must be a set: `deny contains f if { … }`")
		}
		if r.denyLine == 0 {
			r.denyLine = d.Loc().Row
		}
	}
	if r.denyLine == 0 {
		return r.errorf(r.module.Package.Loc(), "no `deny contains f if { … }`")
	}
	return nil
}

func (r *rule) readAnnotations(a *ast.Annotations) error {
	r.Title, r.Description = a.Title, strings.TrimSpace(a.Description)
	for _, ref := range a.RelatedResources {
		r.references = append(r.references, Reference{URL: ref.Ref.String(), Text: ref.Description})
		r.References = append(r.References, ref.Ref.String())
	}
	fields := map[string]*string{
		"name": &r.Name, "level": &r.Level, "predicts": &r.Predicts, "fix": &r.Fix,
		"before": &r.Before, "after": &r.After, "since": &r.Since,
	}
	for key, v := range a.Custom {
		switch field := fields[key]; {
		case field != nil:
			s, ok := v.(string)
			if !ok {
				return r.errorf(a.Loc(), "METADATA custom.%s is %T, want a string", key, v)
			}
			*field = strings.TrimSpace(s)
		case key == "id":
			if v != r.ID {
				return r.errorf(a.Loc(), "METADATA custom.id is %v, the package says %s", v, r.ID)
			}
		case key == "needs":
			if err := r.readNeeds(a, v); err != nil {
				return err
			}
		}
	}
	r.HelpURI = docsURL + r.ID + ".md"
	return r.checkMetadata(a)
}

func (r *rule) readNeeds(a *ast.Annotations, v any) error {
	list, ok := v.([]any)
	if !ok {
		return r.errorf(a.Loc(), "METADATA custom.needs is %T, want a list of kinds", v)
	}
	for _, e := range list {
		s, _ := e.(string)
		if !slices.Contains(Kinds(), s) {
			return r.errorf(a.Loc(), "METADATA custom.needs: no kind %v, there are %s", e, strings.Join(Kinds(), ", "))
		}
		r.Needs = append(r.Needs, s)
	}
	return nil
}

// checkMetadata demands what the engine cannot do without; that a built-in
// rule is documented as well is checked by a test.
func (r *rule) checkMetadata(a *ast.Annotations) error {
	switch {
	case !namePattern.MatchString(r.Name):
		return r.errorf(a.Loc(), "METADATA custom.name is %q, want a kebab-case name", r.Name)
	case !isLevel(r.Level):
		return r.errorf(a.Loc(), "METADATA custom.level is %q, want error, warning or note", r.Level)
	case r.Title == "":
		return r.errorf(a.Loc(), "METADATA has no title")
	case len(r.Needs) == 0:
		return r.errorf(a.Loc(), "METADATA custom.needs is missing: it lists the input's kinds that the rule reads, of %s",
			strings.Join(Kinds(), ", "))
	}
	return nil
}

func (r *rule) errorf(loc *ast.Location, format string, args ...any) error {
	line := 1
	if loc != nil {
		line = loc.Row
	}
	return fmt.Errorf("%s:%d: "+format, append([]any{r.file, line}, args...)...)
}

func isLevel(s string) bool {
	return s == facts.Error || s == facts.Warning || s == facts.Note
}
