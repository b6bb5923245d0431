package source

import v1 "github.com/google/go-containerregistry/pkg/v1"

// instruction is a history entry of a layer.
type instruction struct {
	createdBy string
	// guessed says that the history does not match the layers in number.
	guessed bool
}

// instructions are the history entries of the layers. Where the history has
// fewer, it is that of the topmost ones: some builders write none, and those
// that build on their images add their own. Where it has more, as after
// squashing, nothing can be told apart.
func instructions(c *v1.ConfigFile, layers int) []instruction {
	var made, all []string
	for _, h := range c.History {
		all = append(all, h.CreatedBy)
		if !h.EmptyLayer {
			made = append(made, h.CreatedBy)
		}
	}
	out := make([]instruction, layers)
	switch {
	case len(made) > layers:
		return out
	case len(made) < layers && len(all) == layers:
		made = all // a builder that marks layers empty though they are not
	}
	for i, s := range made {
		out[layers-len(made)+i] = instruction{s, len(made) < layers && s != ""}
	}
	return out
}
