package rules

import (
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// forbidden are built-ins, or prefixes of their names, that policies may not
// call beside those that OPA itself marks as nondeterministic: a policy has no
// network, no environment, no clock, no chance and no second parser.
var forbidden = []string{
	"http.", "net.lookup_ip_addr", "opa.runtime", "rand.", "uuid.rfc4122",
	"time.now_ns", "rego.parse_module", "json.match_schema", "json.verify_schema",
	"io.jwt.", "providers.", "graphql.",
}

// capabilities returns what policies may use. OPA lists more than 200
// built-ins, hence once.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(ast.RegoV1))
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return !allowed(b) })
	// Not nil: nil would allow every host to schema references.
	c.AllowNet = []string{}
	return c
})

func allowed(b *ast.Builtin) bool {
	if b.Nondeterministic {
		return false
	}
	return !slices.ContainsFunc(forbidden, func(p string) bool {
		return b.Name == p || strings.HasSuffix(p, ".") && strings.HasPrefix(b.Name, p)
	})
}
