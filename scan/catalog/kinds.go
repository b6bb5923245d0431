package catalog

import (
	"strings"
	"sync"
)

// Kind is a rule that tells an image's kind by its content.
type Kind struct {
	// Name is driver-container, container-toolkit, device-plugin, dcgm,
	// fabric-manager or node-image.
	Name string
	// Paths must all be there in the final file system; each may hold globs.
	Paths []string
	// Programs are globs of which one must match the name of a program that the
	// image starts, empty where the paths say enough: applications install DCGM
	// beside their own programs.
	Programs []string
}

// Kinds are the rules, in the order of the table.
var Kinds = sync.OnceValue(func() []Kind {
	var ks []Kind
	for _, r := range table("image_kinds.tsv") {
		ks = append(ks, Kind{Name: r["kind"], Paths: strings.Fields(r["path"]), Programs: strings.Fields(r["program"])})
	}
	return ks
})
