package facts

import (
	_ "embed"
	"slices"
)

// The schemas are written by internal/genschema.
var (
	//go:embed schema/facts.schema.json
	factsSchema []byte
	//go:embed schema/input.schema.json
	inputSchema []byte
)

// ImageSchema returns the JSON schema (draft 2020-12) of [Image].
func ImageSchema() []byte { return slices.Clone(factsSchema) }

// InputSchema returns the JSON schema (draft 2020-12) of [Input].
func InputSchema() []byte { return slices.Clone(inputSchema) }
